// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The HIP runtime, looked for when a HIP device is asked for, so that one binary serves machines
// with and without a GPU.
#pragma once

#include "ir/support/Expected.h"
#include "runtime/hip/HipApi.h"

#include <string>
#include <string_view>

namespace kw {

/// Name and architecture of a device, as its runtime tells them.
struct HipDeviceInfo {
  std::string name;
  std::string arch; ///< "gfx950", without the features behind the colon
  int clockMhz = 0; ///< the highest of the engine; what it runs at depends on power
  int computeUnits = 0;
  int runtimeVersion = 0;  ///< as hipRuntimeGetVersion says: major * 10^7 + minor * 10^5 + patch
  bool isEmulator = false; ///< our own library on top of the emulator
};
/// As one line of text, and back.
std::string toText(const HipDeviceInfo &info);
HipDeviceInfo hipDeviceInfo(const std::string &text);

/// Entry points of an opened library, all present. The library stays loaded until the process ends:
/// HIP runtimes have threads of their own.
struct HipLibrary {
  std::string file; ///< as opened
  hip::Status (*init)(unsigned flags);
  hip::Status (*getDeviceCount)(int *count);
  hip::Status (*setDevice)(int device);
  hip::Status (*malloc)(void **pointer, std::size_t bytes);
  hip::Status (*free)(void *pointer);
  hip::Status (*memcpy)(void *to, const void *from, std::size_t bytes, int kind);
  hip::Status (*moduleLoadData)(hip::Module *module, const void *image);
  hip::Status (*moduleUnload)(hip::Module module);
  hip::Status (*moduleGetFunction)(hip::Function *function, hip::Module module, const char *name);
  hip::Status (*moduleLaunchKernel)(hip::Function function, unsigned gridX, unsigned gridY,
                                    unsigned gridZ, unsigned blockX, unsigned blockY,
                                    unsigned blockZ, unsigned dynamicLds, hip::Stream stream,
                                    void **arguments, void **extra);
  hip::Status (*deviceSynchronize)();
  hip::Status (*eventCreate)(hip::Event *event);
  hip::Status (*eventDestroy)(hip::Event event);
  hip::Status (*eventRecord)(hip::Event event, hip::Stream stream);
  hip::Status (*eventSynchronize)(hip::Event event);
  hip::Status (*eventElapsedTime)(float *milliseconds, hip::Event start, hip::Event stop);
  hip::Status (*runtimeGetVersion)(int *version);
  const char *(*getErrorString)(hip::Status status);
  hip::Status (*getDeviceProperties)(void *properties, int device);
  hip::PropertiesLayout propertiesLayout; ///< of what getDeviceProperties fills

  /// Opens libamdhip64.so.7, .6 or .5, or the file that KW_HIP_LIBRARY names. failed() in one line
  /// if there is none, or if it lacks a function.
  static Expected<HipLibrary> open();

  /// An error that names what was done unless `status` is success.
  Expected<void> check(hip::Status status, std::string_view what) const;
  Expected<HipDeviceInfo> describe(int device) const;
};

} // namespace kw
