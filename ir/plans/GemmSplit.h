// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Split-K: workgroups that share an output tile, each with its range of K steps, and how they add
// up. Every wave of a workgroup leaves its partial sums in a workspace and counts its arrival; the
// last wave to arrive of those with the same part of the tile adds them, in the order of the
// splits, and does the epilogue. Waves arrive one by one because nobody but the same wave of the
// other workgroups reads what a wave leaves: no barrier, no broadcast.
//
// Slice-K: waves of one workgroup that share an output tile, each with its part of every K step;
// added through LDS, in their order, by the waves of the first part, which go on alone.
//
//   partials  f32; ordered: [tile][split][wave][quad][lane][4], atomic: [tile][wave][quad][lane][4]
//             A quad is four registers of a lane, fragments row by row. ordered: anything before.
//             atomic: zero before and after.
//   arrivals  i32 [tile][wave]; zero before and after
//
// Tiles are numbered row by row, batch by batch.
//
// Stream-K: a tile in several parts is added up in the same way, by the last wave to arrive, in the
// order of k: nobody waits for a workgroup that may not run yet. A workgroup has at most two parts:
// of a tile that others began (slot 0), of one that others end (slot 1; of a tile that others begin
// and end slot 0). A tile is known by the position (ir/StreamShares.h) of its first part.
//
//   partials  ordered: [position][slot][wave][quad][lane][4],
//             atomic: [position of the first part][wave][quad][lane][4]
//   arrivals  [position of the first part][wave]
#pragma once

#include "ir/KernelPlan.h"

namespace kw {

inline constexpr std::string_view partialsName = "partials", arrivalsName = "arrivals";

/// K steps that every split does: the last ones of the last split may lie behind k and add nothing.
std::int64_t splitSteps(const Gemm &gemm, const GemmSchedule &schedule);
/// K steps of one split that exist. The ranges of all splits are disjoint and cover all steps.
struct StepRange {
  std::int64_t first = 0, count = 0;
  bool operator==(const StepRange &) const = default;
};
StepRange splitRange(const Gemm &gemm, const GemmSchedule &schedule, int split);

/// Waves of a workgroup that hold the result in the end.
inline int resultWaves(const GemmSchedule &schedule) {
  return schedule.tiling.wavesM * schedule.tiling.wavesN;
}
/// LDS for the sums of the other waves.
std::int64_t sliceBytes(const GemmSchedule &schedule);

inline bool isStream(const GemmSchedule &schedule) {
  return schedule.mapping.grid == GridKind::streamk;
}
/// Output tiles that several workgroups may work on.
inline bool sharesTiles(const GemmSchedule &schedule) {
  return schedule.split.k > 1 || isStream(schedule);
}

/// Bytes of the partial sums of one wave, and how many of these a tile has; of a stream-K grid, how
/// many a workgroup has.
std::int64_t partialWaveBytes(const GemmSchedule &schedule);
std::int64_t partialsPerTile(const GemmSchedule &schedule);

/// The workspaces; empty where nobody shares a tile. `count`: tiles; of a stream-K grid workgroups.
Inline<PlanBuffer, 2> splitBuffers(const GemmSchedule &schedule, std::int64_t count);
/// `count`: an expression of the run-time sizes.
std::vector<WorkspaceInterface> splitWorkspaces(const GemmSchedule &schedule,
                                                const std::string &count);

/// Loads of partial sums, of 16 bytes a lane, that are requested together; two groups of them are
/// in flight. Their 64 VGPRs are those of the loop's fragments and loads, which are dead by then.
inline constexpr int partialLoads = 8;

/// How stream-K adds up a tile's parts: `quads` of registers at a time, `inFlight` loads of 16
/// bytes a lane requested ahead. Sums of accumulators in AGPRs are made in VGPRs beside those
/// loads.
struct PartialGroup {
  int quads = 0, inFlight = 0;
  int vgprs(bool sumsBesideAccumulators) const {
    return 4 * (inFlight + (sumsBesideAccumulators ? quads : 0));
  }
};
/// The largest group that fits in so many VGPRs; the smallest one if none does, which the
/// rules of registers have room for.
PartialGroup partialGroup(const GemmSchedule &schedule, int vgprs);
/// VGPRs of the smallest one.
int leastPartialRegisters(const GemmSchedule &schedule);

} // namespace kw
