// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs code objects on the first GPU that HIP offers, through its module API.
#pragma once

#include "runtime/Device.h"
#include "runtime/hip/HipLibrary.h"

namespace kw {

/// Every run is a process of its own (Disposable.h), the only one that opens the HIP library: a
/// kernel that hangs or a driver that crashes ends that process. It loads the module, copies all
/// buffers in, runs the launches one after another, waits for each, and copies all buffers back.
/// Nothing is checked but what the GPU itself notices, so `findings` is always empty, as are the
/// counts of instructions, waves and flops; `seconds` is host time of the launches and no
/// measurement (Measurement.h). Of the options, `strict`, `seed`, `jobs` and `instructionBudget`
/// mean nothing here; a choice of workgroups is badInput: a GPU runs whole grids.
class HipDevice final : public Device {
public:
  /// failed() in one line without library or device. `limitSeconds`: for each copy and launch.
  static Expected<std::unique_ptr<HipDevice>> open(double limitSeconds = defaultLimitSeconds);

  std::string_view name() const override { return "hip"; }
  const HipDeviceInfo &info() const { return description; }

  /// badInput for a code object whose target is not the device's architecture. failed() with HIP's
  /// own text when HIP refuses or the kernel fails; buffers are as before then.
  Expected<RunResult> run(const CodeObject &object, std::span<const BufferView> buffers,
                          const RunOptions &options) override;

private:
  HipDevice(HipDeviceInfo description, double limitSeconds)
      : description(std::move(description)), limitSeconds(limitSeconds) {}

  HipDeviceInfo description;
  double limitSeconds;
};

} // namespace kw
