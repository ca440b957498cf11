// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The analytic model. Read next: KernelProfile.h (counts from a plan), terms/ (one term a file),
// Overlap.h (the one rule that combines them). Constants carry unit and source.
#pragma once

#include "costmodel/Estimate.h"
#include "ir/KernelPlan.h"
#include "ir/Problem.h"
#include "ir/Schedule.h"
#include "ir/Target.h"

#include <memory>

namespace kw {

class Calibration;

/// What a compiler really gave: static facts of the whole code object, counts of instructions.
struct CompiledFacts {
  int vgpr = 0, agpr = 0; ///< `vgpr` without AGPRs
  int occupancy = 0;      ///< waves per SIMD
  std::int64_t ldsBytes = 0;
  int mfma = 0, lds = 0, vmem = 0, valu = 0, salu = 0;
};

/// Estimates schedules of one problem on one target. Memoises loop summaries by LoopKey and tile
/// reuse by mapping, so that no graph is built per estimate. Not for use by several threads at the
/// same time: make one per thread.
class CostModel {
public:
  CostModel(const Problem &problem, const Target &target);
  /// With a calibration's constants and correction. No published run is of our generator, so the
  /// correction is one factor a problem: it changes no ranking, and better hardware still never
  /// makes an estimate slower.
  CostModel(const Problem &problem, const Target &target, const Calibration &calibration);
  ~CostModel();
  CostModel(CostModel &&) noexcept;

  /// Legal schedules only. Deterministic; the full breakdown.
  Estimate estimate(const Schedule &schedule);
  /// The same model with the compiled kernel's registers, LDS and occupancy in place of expected
  /// ones (label `compiled`). The instruction counts aren't read yet.
  Estimate estimate(const Schedule &schedule, const CompiledFacts &compiled);
  /// The time alone: what ranks a space. Equal to estimate(schedule).timeUs.
  double timeUs(const Schedule &schedule);
  /// The same, or, where that is surely above `limitUs`, some lower bound of it that is above
  /// `limitUs` too: found without building a loop graph.
  double timeUs(const Schedule &schedule, double limitUs);

private:
  struct Context;
  std::unique_ptr<Context> context;
};

/// Part of the keys in the store: changes whenever estimates may change.
std::string_view modelVersion();

} // namespace kw
