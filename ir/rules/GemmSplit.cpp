// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules on split-K and slice-K.
#include "ir/plans/GemmSplit.h"

#include "ir/rules/GemmRules.h"

#include <fmt/format.h>

namespace kw {
namespace {

using namespace gemmrules;

std::int64_t tilesOf(const Problem &p, const Schedule &s) {
  const auto along = [](std::int64_t size, int tile) { return (size + tile - 1) / tile; };
  return along(p.gemm().m, gemmOf(s).tiling.m) * along(p.gemm().n, gemmOf(s).tiling.n) *
         p.gemm().batch;
}

/// Splits fill CUs that tiles leave idle; beyond a few workgroups a CU they only add partial sums.
constexpr std::int64_t workgroupsPerCu = 4;

bool usefulHolds(const Problem &p, const Schedule &s, const Target &t) {
  const int splits = gemmOf(s).split.k;
  return splits == 1 ||
         (tilesOf(p, s) < t.cus && tilesOf(p, s) * splits <= workgroupsPerCu * t.cus);
}

/// A step that k ends in the middle of is step 0 of split 0 alone; the code is the same for all.
bool wholeStepsHold(const Problem &p, const Schedule &s, const Target &) {
  return gemmOf(s).split.k == 1 || p.gemm().k % gemmOf(s).tiling.k == 0;
}

bool lastSplitHolds(const Problem &p, const Schedule &s, const Target &) {
  const GemmSchedule &schedule = gemmOf(s);
  return splitRange(p.gemm(), schedule, schedule.split.k - 1).count > 0;
}

// The last workgroup's loads are straight code.
constexpr std::int64_t mostLoads = 512;

std::int64_t partialLoadsOf(const Schedule &s) {
  constexpr std::int64_t bytesOfWave = 64 * 16; // one load
  const GemmSchedule &schedule = gemmOf(s);
  const int partials = schedule.split.reduce == Reduction::atomic ? 1 : schedule.split.k;
  return partialWaveBytes(schedule) / bytesOfWave * partials;
}

} // namespace

std::vector<Rule> gemmSplitRules() {
  return {
      {"splitSums", reads({"splitK", "wavesK", "grid"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return p.gemm().accType == ElementType::f32 ||
                (!sharesTiles(gemmOf(s)) && gemmOf(s).tiling.wavesK == 1);
       },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("parts of k add up in f32; acc={} is summed by one wave: splitk=1, "
                            "slicek=1, no grid=streamk",
                            name(p.gemm().accType));
       }},
      {"usefulReduce", reads({"splitK", "reduce", "grid"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return sharesTiles(gemmOf(s)) || gemmOf(s).split.reduce == Reduction::ordered;
       },
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("reduce=atomic with one workgroup a tile adds nothing up; splitk=2 or "
                            "more does");
       }},
      {"splitGrid", reads({"splitK", "grid"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return gemmOf(s).split.k == 1 || gemmOf(s).mapping.grid == GridKind::tiles;
       },
       [](const Problem &, const Schedule &s, const Target &) {
         return isStream(gemmOf(s))
                    ? fmt::format("splitk={} with grid=streamk, which splits tiles by itself; "
                                  "splitk=1 or grid=tiles",
                                  gemmOf(s).split.k)
                    : fmt::format("splitk={} with a persistent grid: splits are for grids that "
                                  "leave CUs idle; grid=tiles",
                                  gemmOf(s).split.k);
       }},
      {"sliceLoop", reads({"wavesK", "order", "quadrants", "grid"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return gemmOf(s).tiling.wavesK == 1 ||
                (gemmOf(s).mapping.grid == GridKind::tiles &&
                 gemmOf(s).pipeline.order != LoopOrder::pingpong && !gemmOf(s).pipeline.quadrants);
       },
       [](const Problem &, const Schedule &s, const Target &) {
         return fmt::format("slicek={} ends with the tile and walks whole tiles in one group: "
                            "grid=tiles, quad=0, schedule=serial or interleaved",
                            gemmOf(s).tiling.wavesK);
       }},
      {"usefulSlices", reads({"tileM", "tileN", "wavesK"}),
       [](const Problem &p, const Schedule &s, const Target &t) {
         return gemmOf(s).tiling.wavesK == 1 || tilesOf(p, s) < t.cus;
       },
       [](const Problem &p, const Schedule &s, const Target &t) {
         return fmt::format("slicek={} of {} tiles on {} CUs; of use below that",
                            gemmOf(s).tiling.wavesK, tilesOf(p, s), t.cus);
       }},
      {"usefulSplit", reads({"tileM", "tileN", "splitK"}), usefulHolds,
       [](const Problem &p, const Schedule &s, const Target &t) {
         return fmt::format("splitk={} of {} tiles on {} CUs; tiles below that and at most {} "
                            "workgroups a CU are of use",
                            gemmOf(s).split.k, tilesOf(p, s), t.cus, workgroupsPerCu);
       }},
      {"splitWholeSteps", reads({"tileK", "splitK"}), wholeStepsHold,
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("splitk={} divides whole steps: k={} is no multiple of tile k={}",
                            gemmOf(s).split.k, p.gemm().k, gemmOf(s).tiling.k);
       }},
      {"splitSteps", reads({"tileK", "splitK"}), lastSplitHolds,
       [](const Problem &p, const Schedule &s, const Target &) {
         const std::int64_t steps = kSteps(p.gemm(), gemmOf(s).tiling.k);
         const std::int64_t each = splitSteps(p.gemm(), gemmOf(s));
         return fmt::format("splitk={} of {} steps: with {} steps each, {} splits do all",
                            gemmOf(s).split.k, steps, each, (steps + each - 1) / each);
       }},
      {"splitLoads", reads({"tileM", "tileN", "wavesM", "wavesN", "splitK", "reduce"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return gemmOf(s).split.k == 1 || partialLoadsOf(s) <= mostLoads;
       },
       [](const Problem &, const Schedule &s, const Target &) {
         return fmt::format(
             "a wave would load {} times 16 bytes of partial sums a lane; at most {}",
             partialLoadsOf(s), mostLoads);
       }},
  };
}

} // namespace kw
