// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans of stream-K grids.
#include "ir/Expression.h"
#include "ir/OperandLayout.h"
#include "ir/StreamShares.h"
#include "ir/plans/GemmSplit.h"
#include "tests/ir/plans/RandomGemm.h"

#include <gmock/gmock.h>

namespace kw {
namespace {

const Target &gfx950() { return **findTarget("gfx950"); }

std::size_t regionOf(const LaunchPlan &launch, RegionKind kind) {
  std::size_t at = 0;
  while (launch.regions[at].kind != kind) {
    ++at;
  }
  return at;
}

TEST(GemmStream, SixteenTilesMoreThanCus) {
  const Problem problem = *parseProblem("gemm m=4352 n=4096 k=4100 dtype=bf16 b=nk");
  const Schedule schedule = *parseSchedule("gemm.1:tile=256x256x64,waves=2x4,va=8,grid=streamk");
  const KernelPlan plan = makePlan(problem, schedule, gfx950());
  const LaunchPlan &launch = plan.launches[0];
  // 272 tiles of 65 steps for 256 workgroups: 69 steps, 16 of them one more.
  EXPECT_EQ(launch.workgroups, 256);
  EXPECT_EQ(launch.mapping.sharedSteps, 65);
  EXPECT_EQ(StreamShares(launch.mapping).longest(), 70);
  const StreamCounts counts = streamCounts(launch.mapping);
  ASSERT_EQ(plan.buffers.size(), 5u);
  EXPECT_EQ(plan.buffers[3].bytes, 256LL * 2 * 256 * 256 * 4);
  EXPECT_FALSE(plan.buffers[3].zeroedBefore);
  EXPECT_EQ(plan.buffers[4].bytes, 256 * 8 * 4);
  EXPECT_TRUE(plan.buffers[4].zeroedBefore && plan.buffers[4].resetAfter);
  // Shares end with a tile at 13 x 70 = 14 x 65 and at 65, 130 and 195 x 69 from the end.
  EXPECT_EQ(counts.pieces, 272 + 255 - 4);
  EXPECT_EQ(counts.splitTiles, 255 - 4);
  ASSERT_EQ(launch.regions.size(), 4u) << "a short step is one like others";
  EXPECT_EQ(launch.regions[2].kind, RegionKind::reduction);
}

/// Sums over the kinds of piece are those of the tiles, and the interface's text evaluates to them.
TEST(GemmStream, RandomPlansCountEveryStepTileAndPart) {
  RandomGemm random(77);
  for (int trial = 0; trial < 2000; ++trial) {
    Problem problem = random.problem();
    Gemm gemm = problem.gemm();
    gemm.batch = 1 + trial % 3;
    gemm.sa = gemm.lda * gemm.m;
    gemm.sb = gemm.ldb * std::max(gemm.n, gemm.k);
    gemm.sc = gemm.ldc * gemm.m;
    problem = {gemm};
    GemmSchedule decided = random.schedule();
    decided.mapping.grid = GridKind::streamk;
    decided.split.reduce = trial % 5 == 0 ? Reduction::atomic : Reduction::ordered;
    Target target = gfx950();
    target.cus = trial % 2 == 0 ? 3 + trial % 7 : target.cus;
    const KernelPlan plan = makePlan(problem, Schedule(decided), target);
    const LaunchPlan &launch = plan.launches[0];
    const StreamCounts counts = streamCounts(launch.mapping);
    const std::int64_t steps = kSteps(gemm, decided.tiling.k);
    std::int64_t pieces = 0, stepsDone = 0, finished = 0, summed = 0, results = 0;
    for (const WorkgroupKind &kind : launch.kinds) {
      ASSERT_EQ(kind.trips.size(), launch.regions.size());
      ASSERT_GT(kind.count, 0);
      const int ends = kind.trips[regionOf(launch, RegionKind::epilogue)];
      pieces += kind.count;
      stepsDone += kind.count * kind.trips[regionOf(launch, RegionKind::mainLoop)];
      finished += kind.count * ends;
      summed += kind.trips[regionOf(launch, RegionKind::reduction)] > 0 ? kind.count : 0;
      results += kind.count * ends * kind.usefulM * kind.usefulN;
    }
    ASSERT_EQ(pieces, counts.pieces);
    ASSERT_EQ(stepsDone, launch.mapping.tiles() * gemm.batch * steps);
    ASSERT_EQ(finished, launch.mapping.tiles() * gemm.batch);
    ASSERT_EQ(summed, counts.parts());
    ASSERT_EQ(results, gemm.m * gemm.n * gemm.batch);

    const KernelInterface interface = kernelInterface(problem, Schedule(decided), target);
    const SizeValues sizes = runtimeSizes(problem);
    ASSERT_EQ(evaluate(interface.launches[0].grid[0], sizes).value(), launch.workgroups);
    ASSERT_EQ(interface.launches[0].grid[1], "1");
    ASSERT_EQ(interface.workspaces.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_EQ(evaluate(interface.workspaces[i].bytes, sizes).value(),
                plan.buffers[plan.buffers.size() - 2 + i].bytes);
    }
    for (const std::string &guard : interface.guards) {
      if (guard.find('%') == std::string::npos) {
        ASSERT_EQ(evaluate(guard, sizes).value(), 1) << guard;
      }
    }
  }
}

TEST(GemmStream, ALineBeyond31BitsIsNotServed) {
  const Schedule schedule = *parseSchedule("gemm.1:tile=16x16x32,waves=1x1,grid=streamk");
  const auto holds = [&](std::int64_t m) {
    const Problem problem =
        *parseProblem("gemm n=16384 k=65536 dtype=bf16 b=nk m=" + std::to_string(m));
    for (const std::string &guard : kernelInterface(problem, schedule, gfx950()).guards) {
      if (evaluate(guard, runtimeSizes(problem)).value() == 0) {
        return false;
      }
    }
    return true;
  };
  EXPECT_TRUE(holds(16 * 1023)); // 1023 x 1024 tiles of 2048 steps
  EXPECT_FALSE(holds(16 * 1024));
}

} // namespace
} // namespace kw
