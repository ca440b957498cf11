// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One code object with the sizes of one problem: fills the buffers, runs chosen workgroups, holds
// the results against the reference.
#pragma once

#include "ir/CodeObject.h"
#include "ir/KernelPlan.h"
#include "runtime/Device.h"
#include "runtime/HostBuffer.h"
#include "runtime/Timings.h"
#include "runtime/Validator.h"
#include "runtime/validation/Oracle.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace kw {

/// What one run showed.
struct Observation {
  std::vector<Finding> findings;
  std::int64_t checked = 0; ///< output elements
  double maxAbs = 0, maxRel = 0;
  double seconds = 0, matrixFlops = 0; ///< of the device
};

/// The same with the buffers that it left.
struct ObservedRun {
  Observation seen;
  TimedRun run;
};

class ProofCase {
public:
  /// The manifest's buffers and launches must be those of the problem and schedule. `object` must
  /// outlive the case.
  static Expected<ProofCase> make(const CodeObject &object, const Problem &problem,
                                  const Schedule &schedule, const Target &target);

  const Oracle &oracle() const { return *truth; }
  const LaunchPlan &mainLaunch() const { return plan.launches.front(); }
  std::int64_t outputElements() const;

  /// Workgroups of the main launch, and all that the oracle needs with them.
  Expected<Observation> run(Device &device, const InputSet &set,
                            const std::vector<std::uint64_t> &workgroups,
                            const ValidateOptions &options) const;
  /// Judges the results as `run` does, then those of `timings` too, and compares their outputs.
  Expected<Observation> runUnder(Device &device, const InputSet &set,
                                 const std::vector<std::uint64_t> &workgroups,
                                 const ValidateOptions &options,
                                 const std::vector<Timing> &timings) const;

private:
  struct Memory {
    std::vector<HostBuffer> buffers;
    std::vector<BufferView> views;
    TensorContents contents;
  };
  Expected<Memory> allocate() const;
  Expected<ObservedRun> runAs(Device &device, const InputSet &set,
                              const std::vector<std::uint64_t> &workgroups, RunOptions how) const;
  /// Fills, runs, checks; adds to `seen`.
  Expected<RunResult> runOnce(Device &device, const InputSet &set,
                              const std::vector<OutputBlock> &blocks, const RunOptions &how,
                              const Memory &memory, Observation &seen) const;
  std::uint64_t checksumOfInputs(const Memory &memory) const;
  void checkWorkspaces(const Memory &memory, Observation &seen) const;
  void checkOutputs(const InputSet &set, const std::vector<OutputBlock> &blocks,
                    const Memory &memory, int jobs, Observation &seen) const;

  const CodeObject *object = nullptr;
  Problem problem;
  KernelPlan plan;
  std::vector<Tensor> operands;
  std::unique_ptr<Oracle> truth;
};

} // namespace kw
