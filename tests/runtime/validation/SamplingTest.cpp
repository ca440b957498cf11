// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/validation/Sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace kw {
namespace {

using testing::Contains;
using testing::SizeIs;

LaunchPlan launchOf(std::int64_t tilesM, std::int64_t tilesN, std::int64_t batches = 1) {
  LaunchPlan launch;
  launch.mapping = {tilesM, tilesN, batches, 8, 4};
  launch.workgroups = tilesM * tilesN * batches;
  return launch;
}

TEST(Sampling, EveryKindOfTileIsThere) {
  for (const auto &[tilesM, tilesN] :
       {std::pair{1, 1}, {1, 7}, {9, 1}, {2, 2}, {37, 53}, {300, 300}}) {
    const LaunchPlan launch = launchOf(tilesM, tilesN);
    const std::vector<std::uint64_t> sample = sampleWorkgroups(launch, 1, 3);
    std::set<std::pair<bool, bool>> kinds;
    for (const std::uint64_t id : sample) {
      const TileCoordinate tile = tileOf(launch.mapping, static_cast<std::int64_t>(id));
      kinds.emplace(tile.m == tilesM - 1, tile.n == tilesN - 1);
    }
    EXPECT_THAT(kinds, SizeIs((tilesM > 1 ? 2 : 1) * (tilesN > 1 ? 2 : 1)))
        << tilesM << "x" << tilesN;
    EXPECT_THAT(sample, Contains(0U));
    EXPECT_THAT(sample, Contains(static_cast<std::uint64_t>(launch.workgroups - 1)));
    EXPECT_THAT(sample, Contains(cornerWorkgroup(launch)));
    EXPECT_LE(sample.size(), 6U);
  }
}

TEST(Sampling, ManyAreWithoutRepetitionAndInRange) {
  const LaunchPlan launch = launchOf(10, 10);
  const std::vector<std::uint64_t> sample = sampleWorkgroups(launch, 60, 1);
  EXPECT_THAT(sample, SizeIs(60));
  EXPECT_THAT(std::set(sample.begin(), sample.end()), SizeIs(60));
  EXPECT_LT(sample.back(), 100U);
  EXPECT_THAT(sampleWorkgroups(launch, 1000, 1), SizeIs(100));
}

TEST(Sampling, TheCornerIsInTheLastBatch) {
  const LaunchPlan launch = launchOf(5, 6, 3);
  const auto corner = static_cast<std::int64_t>(cornerWorkgroup(launch));
  EXPECT_EQ(corner / 30, 2);
  EXPECT_EQ(tileOf(launch.mapping, corner % 30), (TileCoordinate{4, 5}));
}

} // namespace
} // namespace kw
