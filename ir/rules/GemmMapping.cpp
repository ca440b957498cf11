// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules on the order in which tiles are walked.
#include "ir/rules/GemmRules.h"

#include <fmt/format.h>

namespace kw {
namespace {

using namespace gemmrules;

std::int64_t tilesAlong(std::int64_t size, int tile) { return (size + tile - 1) / tile; }

/// Groups as tall as the grid or taller are all the same walk: only the shortest of them is useful.
bool groupHolds(const Problem &p, const Schedule &s, const Target &) {
  const int group = gemmOf(s).mapping.groupM;
  return group == 0 || group < 2 * tilesAlong(p.gemm().m, gemmOf(s).tiling.m);
}

bool remapHolds(const Problem &p, const Schedule &s, const Target &t) {
  const auto &tile = gemmOf(s).tiling;
  return !gemmOf(s).mapping.xcdRemap ||
         tilesAlong(p.gemm().m, tile.m) * tilesAlong(p.gemm().n, tile.n) * gemmOf(s).split.k >
             t.xcds;
}

/// With a tile a CU or less, a workgroup has but one.
bool persistentHolds(const Problem &p, const Schedule &s, const Target &t) {
  const auto &tile = gemmOf(s).tiling;
  return gemmOf(s).mapping.grid != GridKind::persistent ||
         tilesAlong(p.gemm().m, tile.m) * tilesAlong(p.gemm().n, tile.n) > t.cus;
}

} // namespace

std::vector<Rule> gemmMappingRules() {
  return {
      {"usefulPersistent", reads({"tileM", "tileN", "grid"}), persistentHolds,
       [](const Problem &p, const Schedule &s, const Target &t) {
         const auto &tile = gemmOf(s).tiling;
         return fmt::format(
             "grid=persistent with {} tiles on {} CUs: no workgroup has a second one",
             tilesAlong(p.gemm().m, tile.m) * tilesAlong(p.gemm().n, tile.n), t.cus);
       }},
      {"usefulGroup", reads({"tileM", "groupM"}), groupHolds,
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("group={} with {} rows of tiles: a shorter group walks the same way",
                            gemmOf(s).mapping.groupM, tilesAlong(p.gemm().m, gemmOf(s).tiling.m));
       }},
      {"usefulRemap", reads({"tileM", "tileN", "splitK", "xcdRemap"}), remapHolds,
       [](const Problem &, const Schedule &, const Target &t) {
         return fmt::format("xcd=1 with at most one workgroup for each of {} XCDs changes nothing",
                            t.xcds);
       }},
  };
}

} // namespace kw
