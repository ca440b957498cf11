// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Expression.h"
#include "ir/KernelPlan.h"
#include "ir/plans/RmsNormLoop.h"

#include <gmock/gmock.h>
#include <random>

namespace kw {
namespace {

using testing::ElementsAre;

const Target &gfx950() { return **findTarget("gfx950"); }
Problem problemOf(const char *text) { return *parseProblem(text); }
Schedule scheduleOf(const char *text) { return *parseSchedule(text); }

LoopGraph graphOf(const Problem &problem, const Schedule &schedule, RegionKind kind) {
  const LaunchPlan launch = makePlan(problem, schedule, gfx950()).launches[0];
  for (const Region &region : launch.regions) {
    if (region.kind == kind) {
      return loopGraph(problem, schedule, gfx950(), launch, region);
    }
  }
  ADD_FAILURE() << "no such region";
  return {};
}

std::vector<std::string> operations(const LoopGraph &loop) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < loop.size(); ++i) {
    std::string text(name(loop.op(i).kind));
    if (loop.op(i).operand != TileOperand::none) {
      text += " " + std::string(name(loop.op(i).operand));
    }
    all.push_back(text + (loop.op(i).ahead != 0 ? " ahead" : ""));
  }
  return all;
}

TEST(RmsNormPlan, OnePassOfOneWaveARow) {
  const Problem problem = problemOf("rmsnorm rows=1001 cols=1024 dtype=bf16");
  const Schedule schedule = scheduleOf("rmsnorm.1:");
  const KernelPlan plan = makePlan(problem, schedule, gfx950());
  ASSERT_EQ(plan.buffers.size(), 3u);
  EXPECT_EQ(plan.buffers[1].name, "weight");
  EXPECT_EQ(plan.buffers[1].bytes, 2048);
  const LaunchPlan &launch = plan.launches[0];
  EXPECT_EQ(launch.workgroups, 251);
  EXPECT_EQ(launch.waves, 4);
  EXPECT_EQ(launch.tileM, 4);
  EXPECT_EQ(launch.tileN, 1024);
  EXPECT_EQ(launch.ldsBytes, 0);
  ASSERT_EQ(launch.kinds.size(), 2u);
  EXPECT_EQ(launch.kinds[0].count, 250);
  EXPECT_EQ(launch.kinds[1].count, 1);
  EXPECT_EQ(launch.kinds[1].usefulM, 1);
  EXPECT_THAT(launch.kinds[0].trips, ElementsAre(1, 1, 1, 1));
  // Two pieces of 64 x 8 elements, with their weights, 4 registers each.
  EXPECT_EQ(launch.registers.staging, 16);
  EXPECT_THAT(operations(graphOf(problem, schedule, RegionKind::mainLoop)),
              ElementsAre("globalLoad x", "globalLoad x", "globalLoad weight", "globalLoad weight",
                          "vector", "vector"));
  EXPECT_THAT(operations(graphOf(problem, schedule, RegionKind::reduction)),
              ElementsAre("reduce", "vector"));
  EXPECT_THAT(operations(graphOf(problem, schedule, RegionKind::epilogue)),
              ElementsAre("vector", "store y", "vector", "store y"));
}

TEST(RmsNormPlan, TwoPassesOfSeveralWavesWithResidual) {
  const Problem problem = problemOf("rmsnorm rows=10 cols=5000 dtype=f16 residual=1 weight=0");
  const Schedule schedule = scheduleOf("rmsnorm.1:waves=4,rows=2,passes=2");
  const LaunchPlan launch = makePlan(problem, schedule, gfx950()).launches[0];
  EXPECT_EQ(launch.waves, 8);
  EXPECT_EQ(launch.workgroups, 5);
  EXPECT_EQ(launch.ldsBytes, 32);
  // ceil(5000 / (256 x 8)) trips.
  EXPECT_THAT(launch.kinds[0].trips, ElementsAre(1, 3, 1, 3));
  std::vector<std::string> traffic;
  for (const TileTraffic &tile : launch.traffic) {
    EXPECT_EQ(tile.bytesPerRow, 10000);
    traffic.push_back((tile.write ? "write " : "read ") + std::string(name(tile.operand)));
  }
  EXPECT_THAT(traffic, ElementsAre("read x", "read residual", "read x", "read residual", "write y",
                                   "write sum"));
  EXPECT_THAT(
      operations(graphOf(problem, schedule, RegionKind::mainLoop)),
      ElementsAre("globalLoad x ahead", "globalLoad residual ahead", "vector", "store sum"));
  EXPECT_THAT(operations(graphOf(problem, schedule, RegionKind::reduction)),
              ElementsAre("reduce", "ldsWrite sum", "wait", "barrier", "ldsRead sum", "vector"));
  EXPECT_THAT(operations(graphOf(problem, schedule, RegionKind::epilogue)),
              ElementsAre("globalLoad x ahead", "globalLoad residual ahead", "vector", "store y"));
}

TEST(RmsNormPlan, RandomPlansCoverRowsAndColumns) {
  std::mt19937 random(5);
  const auto number = [&](int low, int high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  for (int trial = 0; trial < 500; ++trial) {
    RmsNorm norm;
    norm.rows = number(1, 5000);
    norm.cols = number(1, 20000);
    norm.residual = number(0, 1) != 0;
    norm.weight = number(0, 1) != 0;
    RmsNormSchedule decided;
    decided.wavesPerRow = 1 << number(0, 4);
    decided.rowsPerWorkgroup = number(1, 16 / decided.wavesPerRow);
    decided.vectorBytes = 2 << number(0, 3);
    decided.passes = number(1, 2);
    const Problem problem{norm};
    const Schedule schedule(decided);
    const LaunchPlan launch = makePlan(problem, schedule, gfx950()).launches[0];
    std::int64_t rows = 0, workgroups = 0;
    for (const WorkgroupKind &kind : launch.kinds) {
      rows += kind.count * kind.usefulM;
      workgroups += kind.count;
    }
    ASSERT_EQ(rows, norm.rows);
    ASSERT_EQ(workgroups, launch.workgroups);
    const std::int64_t perPiece = std::int64_t(decided.wavesPerRow) * 64 * decided.vectorBytes / 2;
    const std::int64_t pieces = rowPieces(norm, decided);
    ASSERT_GE(pieces * perPiece, norm.cols);
    ASSERT_LT((pieces - 1) * perPiece, norm.cols);
    const KernelInterface interface = kernelInterface(problem, schedule, gfx950());
    ASSERT_EQ(evaluate(interface.launches[0].grid[0], runtimeSizes(problem)).value(), workgroups);
    for (const std::string &guard : interface.guards) {
      ASSERT_EQ(evaluate(guard, runtimeSizes(problem)).value(), 1) << guard;
    }
  }
}

TEST(RmsNormPlan, InterfaceListsWhatThereIs) {
  const auto arguments = [](const char *problem) {
    std::vector<std::string> all;
    const KernelInterface interface =
        kernelInterface(problemOf(problem), scheduleOf("rmsnorm.1:"), gfx950());
    for (const KernelArgument &argument : interface.launches[0].arguments) {
      all.push_back(argument.name + "@" + std::to_string(argument.offset));
    }
    return all;
  };
  EXPECT_THAT(arguments("rmsnorm rows=8 cols=64 weight=0"),
              ElementsAre("x@0", "y@8", "rows@16", "eps@20"));
  EXPECT_THAT(arguments("rmsnorm rows=8 cols=64 residual=1"),
              ElementsAre("x@0", "weight@8", "residual@16", "y@24", "sum@32", "rows@40", "eps@44"));
}

TEST(RmsNormPlan, ManifestPassesEps) {
  const Manifest manifest = makeManifest(problemOf("rmsnorm rows=8 cols=64 eps=0.5"),
                                         scheduleOf("rmsnorm.1:"), gfx950(), "k.hsaco");
  const auto &eps = std::get<ValueArgument>(manifest.launches[0].arguments.back().value);
  EXPECT_EQ(eps.bytes, (std::vector<std::uint8_t>{0, 0, 0, 0x3f}));
}

} // namespace
} // namespace kw
