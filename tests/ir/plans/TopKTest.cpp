// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/TopKLoop.h"

#include <algorithm>
#include <gmock/gmock.h>

namespace kw {
namespace {

const Target &gfx950() { return **findTarget("gfx950"); }

TEST(TopKPlan, WorkedOutByHand) {
  const Problem problem = *parseProblem("topk rows=10 cols=32768 k=100");
  const Schedule schedule = *parseSchedule("topk.1:waves=2");
  EXPECT_EQ(listEntries(problem.topk()), 128);
  const LaunchPlan launch = makePlan(problem, schedule, gfx950()).launches.front();
  EXPECT_EQ(launch.waves, 8);
  EXPECT_EQ(launch.workgroups, 3);
  ASSERT_EQ(launch.kinds.size(), 2u);
  EXPECT_EQ(launch.kinds[1].usefulM, 2);
  // 512 elements a trip of both waves; each wave's 16,384 columns have 100 (1 + ln 163.84) = 610
  // candidates, ten merges of 64.
  EXPECT_THAT(launch.kinds[0].trips, testing::ElementsAre(1, 64, 10, 1, 1));
  // Candidates of 128 entries and lists of 128, 8 bytes each, of 8 waves.
  EXPECT_EQ(launch.ldsBytes, 8 * 256 * 8);
  EXPECT_EQ(launch.registers.accumulators, 4);
  EXPECT_EQ(launch.registers.staging, 12);
  // 1.3 MB are read, 100 values of 4 and 8 bytes a row written.
  EXPECT_EQ(launch.traffic[0].bytesPerRow, 131072);
  EXPECT_EQ(launch.traffic[1].bytesPerRow + launch.traffic[2].bytesPerRow, 1200);
  const LoopGraph loop = loopGraph(problem, schedule, gfx950(), launch, launch.regions[1]);
  EXPECT_EQ(loop.maxAhead, 2);
  // Eight waves load 1 KiB each at 128 bytes a clock; two waves a SIMD have 7 vector instructions.
  EXPECT_EQ(loop.resourceInterval, std::max(8 * 8, 7 * 4 * 2));
}

TEST(TopKPlan, LoadsInFlightHideLatency) {
  const auto interval = [](const char *text) {
    const Problem problem = *parseProblem("topk rows=1000 cols=32768 k=8");
    const Schedule schedule = *parseSchedule(text);
    const LaunchPlan launch = makePlan(problem, schedule, gfx950()).launches.front();
    return loopTotals(problem, schedule, gfx950(), launch, launch.regions[1]).recurrenceInterval;
  };
  EXPECT_GT(interval("topk.1:prefetch=0"), interval("topk.1:prefetch=1"));
  EXPECT_GT(interval("topk.1:prefetch=1"), interval("topk.1:prefetch=8"));
}

} // namespace
} // namespace kw
