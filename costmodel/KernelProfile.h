// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts of one launch, derived from its plan in the same way for every operator. The terms see
// nothing but this. Clocks are shader clocks, sizes bytes.
//
// Per wave and per workgroup values are means over the kinds of workgroup, which is exact for
// everything that adds up over the workgroups.
#pragma once

#include "costmodel/LoopSummary.h"
#include "costmodel/TileReuse.h"
#include "ir/KernelPlan.h"
#include "ir/Problem.h"
#include "ir/Target.h"

#include <cstdint>
#include <span>

namespace kw {

/// What the model reads of a problem, once per context.
struct ProblemFacts {
  double flops = 0, compulsoryBytes = 0;
  double inputBytes = 0; ///< of the compulsory bytes: what is read
  /// Of the wider operand of the matrix instructions: decides what they sustain.
  ElementType matrixType = ElementType::f32;
  /// Of all SIMDs together, with the fastest instruction and no padding; 0: nothing known.
  double leastMatrixCycles = 0;
};
ProblemFacts problemFacts(const Problem &problem, const Target &target);

/// Fraction of the peak matrix rate that the target sustains for the type.
double sustainedMatrixFraction(ElementType type, const Target &target);

/// Where a launch's operands come from.
enum class ReadsFrom : std::uint8_t {
  inputs,    ///< cold memory
  workspace, ///< what the launch before has just written: the Infinity Cache, while it fits
};

struct LaunchProfile {
  // Shape of the launch.
  std::int64_t workgroups = 1; ///< or the pieces of work of persistent ones
  bool startsOnce = false;     ///< persistent: a workgroup starts and ends but once
  std::int64_t sharers = 0;    ///< stream-K: workgroups that share the pieces evenly; 0: none do
  double longestShare = 1;     ///< of theirs, else of the workgroups, over the mean
  int waves = 1;               ///< per workgroup
  int workgroupsPerCu = 1;     ///< resident at the same time
  double sustainedMatrixFraction = 1;

  // Of one wave, all iterations.
  double matrixCycles = 0; ///< of its SIMD's matrix pipe
  double valuCycles = 0;   ///< of its SIMD
  double ldsCycles = 0;    ///< of the CU's LDS

  // Of one workgroup.
  double chainCycles = 0;  ///< recurrences of its loops: what they take alone on the CU
  double chainedLoads = 0; ///< round trips to memory within that chain (an L2 hit is counted in it)
  double prefetchedTrips = 0; ///< round trips in a row beside the chain: iterations / prefetch
  double barriers = 0;
  double prologueCycles = 0;    ///< first instruction to first steady iteration
  double startLoads = 0;        ///< round trips to memory in there (an L2 hit is counted in it)
  double reductionCycles = 0;   ///< end of the last iteration to the sum of all splits
  double epilogueCycles = 0;    ///< from there to the last store
  double storeInstructions = 0; ///< of all its waves
  double loadBytes = 0;         ///< through the CU's L1

  // Of the whole launch, by level: what is asked of it.
  double l2ReadBytes = 0, mallReadBytes = 0, hbmReadBytes = 0;
  double writtenBytes = 0;
};

/// `loops[i]` is the summary of launch.regions[i]. Pure: the memo in `reuse` only saves time.
LaunchProfile profileLaunch(const LaunchPlan &launch, std::span<const LoopSummary> loops,
                            const ProblemFacts &facts, const Target &target, TileReuse &reuse,
                            ReadsFrom source = ReadsFrom::inputs);

} // namespace kw
