// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/GroupedGemm.h"

#include "ir/Rule.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <numeric>
#include <random>

namespace kw {
namespace {

const Target &gfx950() { return **findTarget("gfx950"); }
Schedule scheduleOf(std::string_view text) { return *parseSchedule(text); }

LaunchPlan launchOf(const Problem &problem, std::string_view schedule) {
  return makePlan(problem, scheduleOf(schedule), gfx950()).launches.front();
}

TEST(GroupedGemmPlan, GivenRowsWorkedOutByHand) {
  Problem problem = *parseProblem("grouped_gemm groups=4 tokens=300 topk=2 n=320 k=512 b=nk");
  // Tiles of 128 rows: two and 44 rows, 100 rows, nothing, one and 72 rows.
  ASSERT_TRUE(readGroupRows(std::get<GroupedGemm>(problem.op), "300 100 0 200"));
  const GroupTiles tiles = groupTiles(problem.groupedGemm(), GemmSchedule().tiling);
  EXPECT_EQ(tiles.full, 3);
  EXPECT_EQ(tiles.edges, 3);
  EXPECT_EQ(tiles.rest, 216);
  EXPECT_EQ(tiles.n, 3);
  const LaunchPlan launch = launchOf(problem, "grouped_gemm.1:");
  EXPECT_EQ(launch.workgroups, 18);
  // 2 full tiles and a rest of 64 along n; edges have 72 rows each.
  ASSERT_EQ(launch.kinds.size(), 4u);
  const auto kind = [&](std::size_t i) {
    return std::tuple(launch.kinds[i].name, launch.kinds[i].count, launch.kinds[i].usefulM,
                      launch.kinds[i].usefulN);
  };
  EXPECT_EQ(kind(0), std::tuple("interior", 6, 128, 128));
  EXPECT_EQ(kind(1), std::tuple("edgeM", 6, 72, 128));
  EXPECT_EQ(kind(2), std::tuple("edgeN", 3, 128, 64));
  EXPECT_EQ(kind(3), std::tuple("corner", 3, 72, 64));
  // Which tokens, then the loop of 8 steps of 64.
  EXPECT_THAT(launch.kinds[0].trips, testing::ElementsAre(1, 1, 8, 1));
  EXPECT_EQ(launch.mapping.batches, 3);
  EXPECT_EQ(launch.mapping.tilesM, 2);
  // Tokens once, weights of three groups.
  EXPECT_EQ(launch.traffic[0].launchBytes, 300 * 512 * 2);
  EXPECT_EQ(launch.traffic[1].launchBytes, 3 * 320 * 512 * 2);
}

TEST(GroupedGemmPlan, SwigluHalvesTheResult) {
  const LaunchPlan launch = launchOf(
      *parseProblem("grouped_gemm groups=8 tokens=512 topk=2 n=512 k=512 epilogue=swiglu,weight"),
      "grouped_gemm.1:");
  const auto c = std::ranges::find(launch.traffic, TileOperand::c, &TileTraffic::operand);
  ASSERT_NE(c, launch.traffic.end());
  EXPECT_EQ(c->bytesPerRow, 64 * 2);
  const auto weight = std::ranges::find(launch.traffic, TileOperand::weight, &TileTraffic::operand);
  ASSERT_NE(weight, launch.traffic.end());
  EXPECT_EQ(weight->rows * weight->bytesPerRow, 128 * 4);
}

/// Whatever the rows: workgroups of all kinds have each result once, and more groups of the same
/// rows in all never need fewer tiles.
TEST(GroupedGemmPlan, RandomRowsAreCovered) {
  std::mt19937 random(5);
  const auto number = [&](int low, int high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  for (int round = 0; round < 500; ++round) {
    const int groups = number(1, 40), tokens = number(1, 700);
    std::vector<std::int64_t> rows(static_cast<std::size_t>(groups));
    for (auto &height : rows) {
      height = number(0, 2) == 0 ? 0 : number(0, tokens);
    }
    rows[0] = tokens;
    const std::int64_t total = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
    GroupedGemm op = parseProblem("grouped_gemm groups=" + std::to_string(groups) +
                                  " tokens=" + std::to_string(tokens) +
                                  " topk=1 n=" + std::to_string(number(1, 600)) + " k=256")
                         ->groupedGemm();
    op.topk = 1;
    op.tokens = total; // so that the sum fits
    ASSERT_TRUE(setGroupRows(op, rows));
    GroupedGemmSchedule schedule;
    schedule.gemm.tiling.m = 16 << number(0, 4);
    schedule.gemm.tiling.n = 64 << number(0, 2);
    const Problem problem{op};
    const LaunchPlan launch = makePlan(problem, schedule, gfx950()).launches.front();
    std::int64_t count = 0, results = 0, tilesM = 0;
    for (const WorkgroupKind &kind : launch.kinds) {
      count += kind.count;
      results += kind.count * kind.usefulM * kind.usefulN;
      EXPECT_EQ(kind.trips.size(), launch.regions.size());
    }
    for (const std::int64_t height : rows) {
      tilesM += (height + schedule.gemm.tiling.m - 1) / schedule.gemm.tiling.m;
    }
    EXPECT_EQ(results, total * op.product.n);
    EXPECT_EQ(count, launch.workgroups);
    EXPECT_EQ(count,
              tilesM * ((op.product.n + schedule.gemm.tiling.n - 1) / schedule.gemm.tiling.n));
  }
}

} // namespace
} // namespace kw
