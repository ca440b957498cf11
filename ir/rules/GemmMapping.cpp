// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules on the order in which tiles are walked.
#include "ir/plans/GemmSplit.h"
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
  return !gemmOf(s).mapping.xcdRemap || isStream(gemmOf(s)) ||
         tilesAlong(p.gemm().m, tile.m) * tilesAlong(p.gemm().n, tile.n) * gemmOf(s).split.k >
             t.xcds;
}

/// With a tile a CU or less, a workgroup has but one.
bool persistentHolds(const Problem &p, const Schedule &s, const Target &t) {
  const auto &tile = gemmOf(s).tiling;
  return gemmOf(s).mapping.grid != GridKind::persistent ||
         tilesAlong(p.gemm().m, tile.m) * tilesAlong(p.gemm().n, tile.n) > t.cus;
}

/// Of all products.
std::int64_t allTiles(const Problem &p, const Schedule &s) {
  const auto &tile = gemmOf(s).tiling;
  return tilesAlong(p.gemm().m, tile.m) * tilesAlong(p.gemm().n, tile.n) * p.gemm().batch;
}

/// Steps a CU from which a share is worth its prologue and its partial sums, and parts of a tile
/// that one workgroup can still add up while others wait for nothing else. [prior]
constexpr std::int64_t leastShare = 2, mostParts = 32;

/// Tiles that divide evenly are done whole by other grids, without partial sums.
bool streamHolds(const Problem &p, const Schedule &s, const Target &t) {
  if (!isStream(gemmOf(s))) {
    return true;
  }
  const std::int64_t tiles = allTiles(p, s), steps = kSteps(p.gemm(), gemmOf(s).tiling.k);
  return tiles % t.cus != 0 && steps > 1 && tiles * steps >= leastShare * t.cus &&
         tiles * mostParts >= t.cus;
}

} // namespace

std::vector<Rule> gemmMappingRules() {
  return {
      {"usefulStreamK", reads({"tileM", "tileN", "tileK", "grid"}), streamHolds,
       [](const Problem &p, const Schedule &s, const Target &t) {
         return fmt::format("grid=streamk with {} tiles of {} steps on {} CUs; of use where tiles "
                            "do not divide by CUs, with at least {} steps a CU and at most {} CUs "
                            "a tile",
                            allTiles(p, s), kSteps(p.gemm(), gemmOf(s).tiling.k), t.cus, leastShare,
                            mostParts);
       }},
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
      {"usefulRemap", reads({"tileM", "tileN", "splitK", "xcdRemap", "grid"}), remapHolds,
       [](const Problem &, const Schedule &, const Target &t) {
         return fmt::format("xcd=1 with at most one workgroup for each of {} XCDs changes nothing",
                            t.xcds);
       }},
  };
}

} // namespace kw
