// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/AttentionLoop.h"

#include "ir/AttentionLayout.h"
#include "ir/Expression.h"
#include "ir/KernelPlan.h"
#include "ir/Rule.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <map>
#include <random>

namespace kw {
namespace {

const Target &gfx950() { return **findTarget("gfx950"); }

KernelPlan planOf(const std::string &problem, const std::string &schedule) {
  return makePlan(*parseProblem(problem), *parseSchedule(schedule), gfx950());
}

std::vector<int> tripsOf(const LaunchPlan &launch, RegionKind kind) {
  std::vector<int> trips;
  for (const WorkgroupKind &each : launch.kinds) {
    for (std::size_t i = 0; i < launch.regions.size(); ++i) {
      if (launch.regions[i].kind == kind) {
        trips.push_back(each.trips[i]);
      }
    }
  }
  return trips;
}

/// 8 heads of k and v with 4 query heads each, one query: one row tile of 16 rows, 4 of them used.
/// 1000 columns are 8 steps of 4 waves x 32; the last is ragged. Three splits have 3, 3 and 2
/// steps.
TEST(AttentionPlan, WorkedOutByHand) {
  const KernelPlan plan = planOf("attention b=2 hq=32 hkv=8 sq=1 skv=1000 d=128",
                                 "attention.1:tile=16x32,waves=4,splitkv=3");
  ASSERT_EQ(plan.launches.size(), 2u);
  const LaunchPlan &main = plan.launches[0];
  EXPECT_EQ(main.role, "main");
  EXPECT_EQ(main.workgroups, 2 * 8 * 3);
  EXPECT_EQ(main.waves, 4);
  EXPECT_EQ(main.tileM, 16);
  EXPECT_EQ(main.tileN, 128);
  ASSERT_EQ(main.kinds.size(), 2u);
  EXPECT_EQ(main.kinds[0].count, 2 * 8 * 2);
  EXPECT_EQ(main.kinds[1].count, 2 * 8 * 1);
  EXPECT_EQ(main.kinds[0].usefulM, 4);
  EXPECT_THAT(tripsOf(main, RegionKind::mainLoop), testing::ElementsAre(3, 1));
  EXPECT_THAT(tripsOf(main, RegionKind::diagonal), testing::ElementsAre(0, 1));
  // V of four waves, 32 rows of 256 bytes each; results of 4 waves x 16 rows x (512 + 16) bytes and
  // statistics twice need more.
  EXPECT_EQ(main.ldsBytes, std::max(4 * 32 * 256, 4 * 16 * (512 + 16) + 2 * 4 * 16 * 8));
  const LaunchPlan &combine = plan.launches[1];
  EXPECT_EQ(combine.role, "combine");
  EXPECT_EQ(combine.workgroups, 2 * 32 / 4);
  std::map<std::string_view, std::int64_t> bytes;
  for (const PlanBuffer &buffer : plan.buffers) {
    bytes[buffer.name] = buffer.bytes;
  }
  EXPECT_EQ(bytes["partial"], 3 * 64 * 128 * 4);
  EXPECT_EQ(bytes["statistics"], 3 * 64 * 2 * 4);
  EXPECT_EQ(bytes["k"], 2 * 8 * 1000 * 128 * 2);
}

/// Under a causal mask with more queries than columns the first rows see nothing.
TEST(AttentionPlan, CausalTilesEndWhereTheirLastQueryDoes) {
  const LaunchPlan main =
      planOf("attention b=1 hq=16 hkv=1 sq=16 skv=8 d=64 mask=causal", "attention.1:waves=1")
          .launches[0];
  // Row tile t is query t; it sees t - 7 columns.
  EXPECT_EQ(main.workgroups, 16);
  std::int64_t empty = 0, masked = 0;
  for (std::size_t i = 0; i < main.kinds.size(); ++i) {
    const int trips = tripsOf(main, RegionKind::diagonal)[i];
    (trips == 0 ? empty : masked) += main.kinds[i].count;
    EXPECT_EQ(tripsOf(main, RegionKind::mainLoop)[i], 0);
  }
  EXPECT_EQ(empty, 8);
  EXPECT_EQ(masked, 8);
}

/// Each decision changes once in `oneIn`.
Schedule anySchedule(std::mt19937_64 &random, int oneIn) {
  Schedule schedule = defaultSchedule(Family::attention);
  const auto all = decisions(Family::attention);
  for (const Decision &decision : all) {
    if (random() % oneIn == 0) {
      const std::int64_t value = std::int64_t(1) << random() % 8;
      decision.set(schedule, std::clamp(random() % 4 == 0 ? value - 1 : value, decision.lowest,
                                        decision.highest));
    }
  }
  return schedule;
}

std::vector<std::string> problems() {
  return {"attention b=2 hq=32 hkv=8 sq=1 skv=1000 d=128",
          "attention b=1 hq=64 hkv=4 sq=8 skv=4096 d=128 mask=causal lse=1",
          "attention b=3 hq=12 hkv=2 sq=5 skv=77 d=64 dtype=f16 layout=bshd mask=causal",
          "attention b=1 hq=1 hkv=1 sq=16 skv=3 d=64 mask=causal"};
}

/// Counts add up to the grid, and the manifest's grid is the plan's.
TEST(AttentionPlan, KindsAddUpToTheGrid) {
  std::mt19937_64 random(1);
  for (const std::string &text : problems()) {
    const Problem problem = *parseProblem(text);
    for (int round = 0; round < 2000; ++round) {
      const Schedule schedule = anySchedule(random, 2);
      const KernelPlan plan = makePlan(problem, schedule, gfx950());
      const KernelInterface interface = kernelInterface(problem, schedule, gfx950());
      ASSERT_EQ(plan.launches.size(), interface.launches.size());
      for (std::size_t i = 0; i < plan.launches.size(); ++i) {
        std::int64_t count = 0;
        for (const WorkgroupKind &kind : plan.launches[i].kinds) {
          count += kind.count;
          EXPECT_EQ(kind.trips.size(), plan.launches[i].regions.size());
        }
        EXPECT_EQ(count, plan.launches[i].workgroups) << print(schedule);
        EXPECT_EQ(*evaluate(interface.launches[i].grid[0], runtimeSizes(problem)),
                  plan.launches[i].workgroups);
      }
      std::size_t workspaces = 0;
      for (const PlanBuffer &buffer : plan.buffers) {
        if (buffer.role == BufferRole::workspace) {
          ASSERT_LT(workspaces, interface.workspaces.size());
          const WorkspaceInterface &workspace = interface.workspaces[workspaces++];
          EXPECT_EQ(workspace.name, buffer.name);
          EXPECT_EQ(*evaluate(workspace.bytes, runtimeSizes(problem)), buffer.bytes);
        }
      }
      EXPECT_EQ(workspaces, interface.workspaces.size());
      for (const std::string &guard : interface.guards) {
        if (isLegal(problem, schedule, gfx950())) {
          EXPECT_EQ(*evaluate(guard, runtimeSizes(problem)), 1) << guard;
        }
      }
    }
  }
}

/// Equal keys, equal graphs.
TEST(AttentionPlan, LoopKeysTellGraphsApart) {
  std::mt19937_64 random(2);
  int legal = 0;
  for (const std::string &text : problems()) {
    const Problem problem = *parseProblem(text);
    std::map<LoopKey, std::string> known;
    for (int round = 0; round < 4000; ++round) {
      const Schedule schedule = anySchedule(random, 8);
      if (!isLegal(problem, schedule, gfx950())) {
        continue;
      }
      ++legal;
      for (const LaunchPlan &launch : makePlan(problem, schedule, gfx950()).launches) {
        for (const Region &region : launch.regions) {
          const std::string graph = print(loopGraph(problem, schedule, gfx950(), launch, region));
          const auto [at, isNew] = known.try_emplace(region.loop, graph);
          EXPECT_EQ(at->second, graph) << print(schedule);
        }
      }
    }
  }
  EXPECT_GT(legal, 100);
}

struct BodyCounts {
  std::map<std::pair<TileOpKind, TileOperand>, int> ops;
  int transcendentals = 0;
};

BodyCounts countsOf(const LoopGraph &loop) {
  BodyCounts counts;
  for (std::size_t i = 0; i < loop.size(); ++i) {
    const TileOp &op = loop.op(i);
    counts.ops[{op.kind, op.operand}] += 1;
    counts.transcendentals += op.transcendentals;
  }
  return counts;
}

LoopGraph graphOf(const std::string &problem, const std::string &schedule, RegionKind kind) {
  const Problem p = *parseProblem(problem);
  const Schedule s = *parseSchedule(schedule);
  const LaunchPlan launch = makePlan(p, s, gfx950()).launches[0];
  const auto region = std::ranges::find(launch.regions, kind, &Region::kind);
  return loopGraph(p, s, gfx950(), launch, *region);
}

/// 16 rows, 32 columns, d 128: 2 score fragments x 4 slices of d; 8 fragments of dv x 1 slice.
TEST(AttentionPlan, AStepMultipliesTwice) {
  const std::string problem = "attention b=1 hq=16 hkv=1 sq=1 skv=4096 d=128";
  const LoopGraph loop = graphOf(problem, "attention.1:", RegionKind::mainLoop);
  BodyCounts counts = countsOf(loop);
  EXPECT_EQ((counts.ops[{TileOpKind::matrix, TileOperand::q}]), 8);
  EXPECT_EQ((counts.ops[{TileOpKind::matrix, TileOperand::p}]), 8);
  EXPECT_EQ((counts.ops[{TileOpKind::globalLoad, TileOperand::k}]), 8);
  EXPECT_EQ((counts.ops[{TileOpKind::globalLoad, TileOperand::v}]), 8);
  EXPECT_EQ((counts.ops[{TileOpKind::ldsWrite, TileOperand::v}]), 8);
  EXPECT_EQ((counts.ops[{TileOpKind::ldsRead, TileOperand::v}]), 8);
  EXPECT_EQ((counts.ops[{TileOpKind::reduce, TileOperand::p}]), 1);
  EXPECT_EQ((counts.ops[{TileOpKind::vector, TileOperand::p}]), 3);
  // 32 x 16 scores over 64 lanes, and the change of the maximum.
  EXPECT_EQ(counts.transcendentals, 8 + 1);
  // Nothing but its own data holds a wave up.
  EXPECT_EQ((counts.ops[{TileOpKind::barrier, TileOperand::none}]), 0);
  EXPECT_GT(loop.recurrenceInterval, 0);
  EXPECT_EQ(loop.maxAhead, 1);
  BodyCounts masked = countsOf(graphOf(problem, "attention.1:", RegionKind::diagonal));
  EXPECT_EQ((masked.ops[{TileOpKind::vector, TileOperand::p}]), 4);
}

/// A wait leaves exactly what was issued behind the loads that it is for, from the first step on.
TEST(AttentionPlan, WaitsCountFromTheFirstStep) {
  for (const char *paths :
       {"k=direct,v=direct,stages=2", "k=direct,v=direct,stages=4", "v=direct,stages=2,prefetch=1",
        "v=direct,stages=3,prefetch=2", "k=lds,v=direct,stages=3,prefetch=2",
        "k=direct,v=lds,stages=3,prefetch=2"}) {
    const std::string schedule = std::string("attention.1:") + paths;
    const LoopGraph loop =
        graphOf("attention b=1 hq=16 hkv=1 sq=1 skv=4096 d=128", schedule, RegionKind::mainLoop);
    int waits = 0;
    for (std::size_t position = 0; position < loop.size(); ++position) {
      if (loop.op(position).kind != TileOpKind::wait) {
        continue;
      }
      ++waits;
      for (int iteration = 0; iteration < 6; ++iteration) {
        EXPECT_EQ(pendingVectorAt(loop, position, iteration, 100, true),
                  loop.op(position).pendingVector)
            << schedule << " iteration " << iteration;
      }
    }
    EXPECT_GT(waits, 0);
  }
}

} // namespace
} // namespace kw
