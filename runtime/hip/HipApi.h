// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of the HIP runtime's C ABI that we use and that the emulated library offers, declared
// here so that no ROCm header is needed to build. Facts: HIP's hip_runtime_api.h, versions 5 to 7.
#pragma once

#include <cstddef>

namespace kw::hip {

/// hipError_t: an int in the ABI.
using Status = int;
inline constexpr Status success = 0, invalidValue = 1, outOfMemory = 2, invalidConfiguration = 9,
                        invalidDevice = 101, invalidImage = 200, fileNotFound = 301,
                        invalidHandle = 400, notFound = 500, launchFailure = 719;

enum MemcpyKind : int { hostToHost, hostToDevice, deviceToHost, deviceToDevice, byAddress };

/// Keys in the `extra` array of a launch: {pointerKey, bytes, sizeKey, &size, endKey}.
inline void *const pointerKey = reinterpret_cast<void *>(1);
inline void *const sizeKey = reinterpret_cast<void *>(2);
inline void *const endKey = reinterpret_cast<void *>(3);

/// Where the used fields of hipDeviceProp_t lie. The structure changed with HIP 6, and the function
/// that fills it changed its name; later libraries offer both.
struct PropertiesLayout {
  const char *symbol;
  std::size_t bytes;
  std::size_t name;           ///< char[256]
  std::size_t arch;           ///< char[256]: gcnArchName, "gfx950:sramecc+:xnack-"
  std::size_t globalBytes;    ///< size_t
  std::size_t warpSize;       ///< int, work-items of a wave
  std::size_t workgroupLimit; ///< int, work-items
  std::size_t clockRate;      ///< int, kHz: the highest of the engine
  std::size_t computeUnits;   ///< int
};
inline constexpr PropertiesLayout propertiesOfHip6{
    "hipGetDevicePropertiesR0600", 1472, 0, 1160, 288, 308, 320, 348, 388};
inline constexpr PropertiesLayout propertiesOfHip5{
    "hipGetDeviceProperties", 792, 0, 396, 256, 276, 280, 308, 336};

using Module = void *;
using Function = void *;
using Stream = void *; ///< null: the default stream
using Event = void *;

/// How the emulated library's device is called: its times are no GPU's.
inline constexpr const char *emulatorName = "Kernelwright emulator of gfx950";

} // namespace kw::hip
