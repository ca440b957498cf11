// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What running and measuring share: a loaded module and launches that are ready to be queued.
#pragma once

#include "ir/CodeObject.h"
#include "runtime/Device.h"
#include "runtime/Kernarg.h"
#include "runtime/emulator/Emulator.h"
#include "runtime/hip/HipLibrary.h"

namespace kw {

constexpr int firstHipDevice = 0;

/// A launch with its kernel looked up and its arguments packed.
struct ReadyLaunch {
  std::string kernel;
  hip::Function function = nullptr;
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint32_t dynamicLds = 0;
  std::vector<std::uint8_t> kernarg;

  /// In the default stream; does not wait. The arguments are copied by HIP before it returns.
  Expected<void> queue(const HipLibrary &library);
};

class HipModule {
public:
  /// badInput for a code object whose target is not the device's architecture.
  static Expected<HipModule> load(const HipLibrary &library, const HipDeviceInfo &device,
                                  const CodeObject &object);
  HipModule(HipModule &&other) noexcept;
  HipModule(const HipModule &) = delete;
  ~HipModule();

  /// All launches of the manifest, with buffers at these addresses.
  Expected<std::vector<ReadyLaunch>> ready(const Manifest &manifest,
                                           const AddressOf &addressOf) const;

private:
  HipModule(const HipLibrary &library, LoadedCode code)
      : library(&library), code(std::move(code)) {}
  const HipLibrary *library;
  LoadedCode code;
  hip::Module module = nullptr;
};

/// Opens the library and takes its first device: failed() in one line without library or device.
struct OpenedHip {
  HipLibrary library;
  HipDeviceInfo device;
  static Expected<OpenedHip> open();
};

} // namespace kw
