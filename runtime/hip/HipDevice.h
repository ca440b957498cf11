// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs code objects on the first GPU that HIP offers, through its module API.
#pragma once

#include "runtime/Device.h"
#include "runtime/hip/HipLibrary.h"

namespace kw {

/// Every run loads the module, copies all buffers in, runs the launches one after another, waits
/// for each, and copies all buffers back. Nothing is checked but what the GPU itself notices, so
/// `findings` is always empty, as are the counts of instructions, waves and flops; `seconds` is
/// host time of the launches and no measurement. Of the options, `strict`, `seed`, `jobs` and
/// `instructionBudget` mean nothing here; a choice of workgroups is badInput: a GPU runs whole
/// grids.
class HipDevice final : public Device {
public:
  /// failed() in one line without library or device.
  static Expected<std::unique_ptr<HipDevice>> open();

  std::string_view name() const override { return "hip"; }
  const HipDeviceInfo &info() const { return description; }

  /// badInput for a code object whose target is not the device's architecture. failed() with HIP's
  /// own text when HIP refuses or the kernel fails.
  Expected<RunResult> run(const CodeObject &object, std::span<const BufferView> buffers,
                          const RunOptions &options) override;

private:
  HipDevice(HipLibrary library, HipDeviceInfo description)
      : library(std::move(library)), description(std::move(description)) {}

  HipLibrary library;
  HipDeviceInfo description;
};

} // namespace kw
