// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/KernelPlan.h"

#include "ir/Rule.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace kw {
namespace {

const Target &gfx950() { return **findTarget("gfx950"); }

KernelPlan planOf(std::string_view problem, std::string_view schedule) {
  return makePlan(*parseProblem(problem), *parseSchedule(schedule), gfx950());
}

TEST(TritonGemmPlan, CountsTilesStepsAndLds) {
  const KernelPlan plan = planOf(
      "gemm m=4096 n=4096 k=4096 b=nk",
      "triton.gemm.1:BLOCK_M=256,BLOCK_N=128,BLOCK_K=64,num_warps=8,matrix_instr_nonkdim=16");
  const LaunchPlan &launch = plan.launches.front();
  EXPECT_EQ(launch.workgroups, 16 * 32);
  EXPECT_EQ(launch.waves, 8);
  EXPECT_EQ(launch.ldsBytes, 101312); // as Triton 3.9.0 compiles it
  EXPECT_EQ(launch.mapping.xcds, 1);
  EXPECT_EQ(launch.mapping.groupM, 8);
  ASSERT_EQ(launch.kinds.size(), 1u);
  EXPECT_EQ(launch.kinds[0].trips[1], 64);
  EXPECT_GT(launch.occupancy, 0);
}

TEST(TritonGemmPlan, EdgesAndBatches) {
  const KernelPlan plan =
      planOf("gemm m=100 n=300 k=1000 batch=3 b=nk", "triton.gemm.1:BLOCK_M=64,BLOCK_N=128");
  const LaunchPlan &launch = plan.launches.front();
  std::int64_t count = 0, useful = 0;
  for (const WorkgroupKind &kind : launch.kinds) {
    count += kind.count;
    useful += kind.count * kind.usefulM * kind.usefulN;
    EXPECT_EQ(kind.trips[1], 16); // the last one masked like all others
  }
  EXPECT_EQ(count, launch.workgroups);
  EXPECT_EQ(useful, 3 * 100 * 300);
}

TEST(TritonGemmPlan, TheAddedMatrixIsRead) {
  const auto reads = [](std::string_view problem) {
    const KernelPlan plan = planOf(problem, "triton.gemm.1:");
    std::int64_t bytes = 0;
    for (const TileTraffic &traffic : plan.launches.front().traffic) {
      bytes += traffic.operand == TileOperand::c && !traffic.write
                   ? traffic.rows * traffic.bytesPerRow
                   : 0;
    }
    return bytes;
  };
  EXPECT_EQ(reads("gemm m=512 n=512 k=512"), 0);
  EXPECT_EQ(reads("gemm m=512 n=512 k=512 epilogue=bias"), 128 * 2);
  EXPECT_EQ(reads("gemm m=512 n=512 k=512 epilogue=add"), 128 * 128 * 2);
}

TEST(TritonGemmPlan, GraphsOfLegalSchedules) {
  for (const char *problem :
       {"gemm m=512 n=512 k=512 b=nk", "gemm m=512 n=512 k=500 a=km dtype=f32",
        "gemm m=33 n=77 k=1001 dtype=f16", "gemm m=1 n=4096 k=4096 batch=2 b=nk"}) {
    for (const char *schedule :
         {"triton.gemm.1:BLOCK_M=32,BLOCK_N=64,BLOCK_K=32",
          "triton.gemm.1:BLOCK_M=16,BLOCK_N=16,BLOCK_K=64,num_warps=8,num_stages=3",
          "triton.gemm.1:BLOCK_M=64,BLOCK_N=32,BLOCK_K=16,num_stages=1,num_warps=1"}) {
      const Problem parsed = *parseProblem(problem);
      const Schedule decided = *parseSchedule(schedule);
      const KernelPlan plan = makePlan(parsed, decided, gfx950());
      const LaunchPlan &launch = plan.launches.front();
      for (const Region &region : launch.regions) {
        EXPECT_EQ(region.loop >> 63, 1u) << "not to be mistaken for a loop of ours";
        const LoopGraph graph = loopGraph(parsed, decided, gfx950(), launch, region);
        const LoopTotals totals = loopTotals(parsed, decided, gfx950(), launch, region);
        EXPECT_GT(graph.length, 0) << problem << " " << schedule;
        EXPECT_EQ(graph.length, totals.length);
        if (region.kind == RegionKind::mainLoop) {
          EXPECT_GT(totals.use.matrix, 0);
        }
      }
    }
  }
}

} // namespace
} // namespace kw
