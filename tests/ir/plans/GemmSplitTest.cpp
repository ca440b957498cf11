// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/GemmSplit.h"

#include "ir/Expression.h"
#include "ir/OperandLayout.h"

#include <gmock/gmock.h>
#include <map>

namespace kw {
namespace {

using testing::ElementsAre;

const Target &gfx950() { return **findTarget("gfx950"); }

GemmSchedule scheduleOf(const std::string &text) {
  return std::get<GemmSchedule>(*parseSchedule(text));
}

TEST(GemmSplit, RangesAreDisjointAndCoverAllSteps) {
  for (int k = 64; k <= 64 * 70; k += 64) {
    const Problem problem = *parseProblem("gemm m=16 n=64 dtype=bf16 k=" + std::to_string(k));
    for (int splits = 1; splits <= 70; ++splits) {
      const GemmSchedule schedule =
          scheduleOf("gemm.1:tile=16x64x64,splitk=" + std::to_string(splits));
      std::int64_t next = 0;
      for (int split = 0; split < splits; ++split) {
        const StepRange range = splitRange(problem.gemm(), schedule, split);
        ASSERT_TRUE(range.count == 0 || range.first == next);
        ASSERT_LE(range.count, splitSteps(problem.gemm(), schedule));
        next += range.count;
      }
      ASSERT_EQ(next, kSteps(problem.gemm(), 64));
    }
  }
}

TEST(GemmSplit, PlanOfADecodeShape) {
  const Problem problem = *parseProblem("gemm m=10 n=1280 k=8192 dtype=bf16 b=nk");
  const Schedule schedule = *parseSchedule("gemm.1:tile=16x64x128,waves=1x4,splitk=24");
  const KernelPlan plan = makePlan(problem, schedule, gfx950());
  const LaunchPlan &launch = plan.launches[0];
  EXPECT_EQ(launch.workgroups, 20 * 24);
  EXPECT_EQ(launch.mapping.splits, 24);
  std::int64_t count = 0;
  for (const WorkgroupKind &kind : launch.kinds) {
    count += kind.count;
    EXPECT_THAT(kind.trips, ElementsAre(1, 3, 1, 1)); // 64 steps: 3 each, the last split has 2 less
  }
  EXPECT_EQ(count, launch.workgroups);
  EXPECT_EQ(splitRange(problem.gemm(), std::get<GemmSchedule>(schedule), 21).count, 1);
  EXPECT_EQ(launch.regions[2].kind, RegionKind::reduction);
  ASSERT_EQ(plan.buffers.size(), 5u);
  EXPECT_EQ(plan.buffers[3].name, "partials");
  EXPECT_EQ(plan.buffers[3].bytes, 20 * 24 * 16 * 64 * 4);
  EXPECT_FALSE(plan.buffers[3].zeroedBefore);
  EXPECT_EQ(plan.buffers[4].bytes, 20 * 4 * 4);
  EXPECT_TRUE(plan.buffers[4].zeroedBefore && plan.buffers[4].resetAfter);
}

TEST(GemmSplit, WorkspacesOfTheInterfaceAreThoseOfThePlan) {
  for (const char *reduce : {"ordered", "atomic"}) {
    const Schedule schedule =
        *parseSchedule(std::string("gemm.1:tile=32x64x64,waves=1x4,splitk=4,reduce=") + reduce);
    for (const int m : {1, 32, 33, 100}) {
      const Problem problem = *parseProblem("gemm n=200 k=1024 dtype=bf16 m=" + std::to_string(m));
      const KernelInterface interface = kernelInterface(problem, schedule, gfx950());
      std::map<std::string_view, PlanBuffer> planned;
      for (const PlanBuffer &buffer : makePlan(problem, schedule, gfx950()).buffers) {
        planned[buffer.name] = buffer;
      }
      ASSERT_EQ(interface.workspaces.size(), 2u);
      for (const WorkspaceInterface &workspace : interface.workspaces) {
        EXPECT_EQ(*evaluate(workspace.bytes, runtimeSizes(problem)), planned[workspace.name].bytes);
        EXPECT_EQ(workspace.zeroedBefore, planned[workspace.name].zeroedBefore);
        EXPECT_EQ(workspace.resetAfter, planned[workspace.name].resetAfter);
      }
    }
  }
  EXPECT_TRUE(kernelInterface(*parseProblem("gemm m=1 n=64 k=64 dtype=bf16"),
                              *parseSchedule("gemm.1:"), gfx950())
                  .workspaces.empty());
}

} // namespace
} // namespace kw
