// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/AttentionLoop.h"

#include "ir/AttentionLayout.h"
#include "ir/Decision.h"
#include "ir/Expression.h"
#include "ir/KernelPlan.h"
#include "ir/Rule.h"
#include "ir/plans/AttentionTiles.h"

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

/// One launch; rows of 64 queries x 4 heads, eight waves of 32 rows, K and V of 64 columns in two
/// stages of 16 KiB each.
TEST(AttentionPlan, PrefillWorkedOutByHand) {
  const KernelPlan plan =
      planOf("attention b=2 hq=32 hkv=8 sq=4096 skv=4096 d=128 mask=causal",
             "attention.1:tile=256x64,waves=8,mfma=32x32x16,k=direct,v=direct,rowwaves=8");
  ASSERT_EQ(plan.launches.size(), 1u);
  const LaunchPlan &main = plan.launches[0];
  EXPECT_EQ(main.workgroups, 2 * 8 * 64);
  EXPECT_EQ(main.ldsBytes, 2 * 2 * 64 * 256);
  // Tile t of 64 visits t + 1 steps, of which the last is masked.
  std::int64_t count = 0, whole = 0, masked = 0;
  const auto whole64 = tripsOf(main, RegionKind::mainLoop),
             masked64 = tripsOf(main, RegionKind::diagonal);
  for (std::size_t i = 0; i < main.kinds.size(); ++i) {
    count += main.kinds[i].count;
    whole += main.kinds[i].count * whole64[i];
    masked += main.kinds[i].count * masked64[i];
  }
  EXPECT_EQ(count, main.workgroups);
  EXPECT_EQ(whole, 16 * 63 * 64 / 2);
  EXPECT_EQ(masked, 16 * 64);
  // A wave has 32 rows: one fragment of queries, 4 of v, two of scores twice.
  EXPECT_EQ(main.registers.accumulators, 4 * 16);
  EXPECT_EQ(main.registers.fragments, (8 + 12) * 4 + 2 * 32);
  EXPECT_EQ(main.registers.agpr(), 0);
  // Eight waves load 16 KiB of K: two pieces of a lane; 2 x 8 products each of K and V.
  const auto region = std::ranges::find(main.regions, RegionKind::mainLoop, &Region::kind);
  const LoopGraph loop =
      loopGraph(*parseProblem("attention b=2 hq=32 hkv=8 sq=4096 skv=4096 d=128 mask=causal"),
                *parseSchedule("attention.1:tile=256x64,waves=8,mfma=32x32x16,k=direct,v=direct,"
                               "rowwaves=8"),
                gfx950(), main, *region);
  int loads = 0, products = 0, barriers = 0;
  for (std::size_t i = 0; i < loop.size(); ++i) {
    loads += loop.op(i).kind == TileOpKind::directLoad ? 1 : 0;
    products += loop.op(i).kind == TileOpKind::matrix ? 1 : 0;
    barriers += loop.op(i).kind == TileOpKind::barrier ? 1 : 0;
  }
  EXPECT_EQ(loads, 4);
  EXPECT_EQ(products, 32);
  EXPECT_EQ(barriers, 1);
  // Two waves a SIMD: 2 x 32 products of 32 clocks.
  EXPECT_EQ(loop.resourceInterval, 2 * 32 * 32);
  // The last step's second product is done behind the loop.
  const auto end = std::ranges::find(main.regions, RegionKind::epilogue, &Region::kind);
  const LoopTotals behind =
      loopTotals(*parseProblem("attention b=2 hq=32 hkv=8 sq=4096 skv=4096 d=128 mask=causal"),
                 *parseSchedule("attention.1:tile=256x64,waves=8,mfma=32x32x16,k=direct,v=direct,"
                                "rowwaves=8"),
                 gfx950(), main, *end);
  EXPECT_EQ(behind.use.matrix, 16 * 32);
  EXPECT_EQ(behind.barriers, 1);
}

/// v of latent attention is part of k: it is neither loaded nor kept twice.
TEST(AttentionPlan, LatentReadsKeysOnce) {
  const LaunchPlan main = planOf("attention b=8 hq=128 hkv=1 sq=1 skv=4096 d=576 dv=512",
                                 "attention.1:tile=64x32,waves=4,k=direct,v=direct,rowwaves=4")
                              .launches[0];
  EXPECT_EQ(main.registers.agpr(), 32 * 4);
  std::int64_t kv = 0;
  for (const TileTraffic &traffic : main.traffic) {
    EXPECT_NE(traffic.operand, TileOperand::v);
    kv += traffic.operand == TileOperand::k ? traffic.launchBytes : 0;
  }
  EXPECT_EQ(kv, 8 * 4096 * 576 * 2);
  EXPECT_GE(main.ldsBytes, 3 * 32 * 576 * 2); // a stage more: v is read a step later
}

TEST(AttentionPlan, SequencesOfTheirOwnLengths) {
  Problem problem = *parseProblem("attention b=3 hq=4 hkv=2 sq=256 skv=512 d=64 varlen=x");
  ASSERT_TRUE(readSequenceLengths(std::get<Attention>(problem.op), "256 512\n100\n100 100\n"));
  const LaunchPlan main =
      makePlan(problem,
               *parseSchedule("attention.1:tile=128x64,waves=4,mfma=32x32x16,k=direct,v=direct,"
                              "rowwaves=4"),
               gfx950())
          .launches[0];
  // 512 packed rows are 4 tiles of 8 steps; 200 are one full tile and an edge of 72, of 2 steps.
  EXPECT_EQ(main.workgroups, 2 * 4 + 2 * 2 * 2);
  std::int64_t steps = 0, rows = 0;
  for (std::size_t i = 0; i < main.kinds.size(); ++i) {
    rows += main.kinds[i].count * main.kinds[i].usefulM;
    steps += main.kinds[i].count *
             (tripsOf(main, RegionKind::mainLoop)[i] + tripsOf(main, RegionKind::diagonal)[i]);
  }
  EXPECT_EQ(rows, 2 * (512 + 200 + 200));
  EXPECT_EQ(steps, 2 * (4 * 8 + 2 * 2 * 2));
  EXPECT_EQ(compulsoryBytes(problem), 2.0 * 2 * 456 * 4 * 64 + 2.0 * 2 * 712 * 2 * 64);
}

/// What the scores, the types and pages add is vector work.
TEST(AttentionPlan, ModifiersAreVectorWork) {
  const auto work = [](const std::string &more) {
    const std::string problem = "attention b=2 hq=32 hkv=8 sq=1024 skv=1024 d=128" + more;
    const Schedule schedule = *parseSchedule(
        "attention.1:tile=256x64,waves=8,mfma=32x32x16,k=direct,v=direct,rowwaves=8");
    const LaunchPlan main = makePlan(*parseProblem(problem), schedule, gfx950()).launches[0];
    const auto region = std::ranges::find(main.regions, RegionKind::mainLoop, &Region::kind);
    return loopTotals(*parseProblem(problem), schedule, gfx950(), main, *region).use.valu;
  };
  const double plain = work("");
  EXPECT_EQ(work(" score=alibi") - plain, 2 * 32 * 4);
  EXPECT_EQ(work(" score=softcap:30") - plain, 3 * 32 * 4 + 2 * 32 * 8);
  EXPECT_EQ(work(" kvdtype=fp8") - plain, (16 + 16) * 4 * 4);
  EXPECT_GT(work(" page=64"), plain);
}

/// Kinds against every tile of every sequence: workgroups, rows, steps and the longest; bytes
/// against the compulsory ones.
TEST(AttentionPlan, CountsWhatEachTileDoes) {
  std::mt19937 random(17);
  const auto number = [&](int low, int high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  for (int round = 0; round < 300; ++round) {
    const int hkv = number(1, 3), group = number(1, 9), sq = number(17, 700), skv = number(1, 900);
    const std::string size = std::to_string(number(1, 300));
    const std::string masks[] = {"none", "causal", "window:" + size, "prefix:" + size,
                                 "document:x"};
    const bool varlen = round % 3 == 0;
    Problem problem = *parseProblem(
        "attention b=3 hq=" + std::to_string(hkv * group) + " hkv=" + std::to_string(hkv) +
        " sq=" + std::to_string(sq) + " skv=" + std::to_string(skv) +
        " d=64 lse=1 mask=" + masks[round % 5] + (varlen ? " varlen=x" : ""));
    Attention &op = std::get<Attention>(problem.op);
    if (varlen) {
      ASSERT_TRUE(readSequenceLengths(
          op, std::to_string(number(1, sq)) + " " + std::to_string(number(1, skv)) + "\n" +
                  std::to_string(number(1, sq)) + " " + std::to_string(number(1, skv)) + "\n" +
                  std::to_string(sq) + " " + std::to_string(skv)));
    }
    op.documentEnds = {std::max(1, skv / 3), skv};
    const int waves = 1 << number(0, 3), splits = number(1, 3);
    const Schedule schedule =
        *parseSchedule("attention.1:tile=" + std::to_string(16 << number(0, 4)) +
                       "x64,k=direct,v=direct,waves=" + std::to_string(waves) +
                       ",rowwaves=" + std::to_string(number(0, 1) ? waves : 1) +
                       ",splitkv=" + std::to_string(splits));
    const auto &decided = std::get<AttentionSchedule>(schedule);
    const std::int64_t rows = decided.tiling.rows;
    std::int64_t tiles = 0, useful = 0, longest = 0;
    VisibleSteps steps;
    for (const SequenceLength &length : op.lengths) {
      for (std::int64_t tile = 0; tile * rows < length.queries * group; ++tile) {
        const VisibleSteps each = stepsOfTile(op, length, rows, decided.stepColumns(), tile);
        tiles += length.count * hkv;
        useful += length.count * hkv * std::min(rows, length.queries * group - tile * rows);
        steps += each * (length.count * hkv);
        longest = std::max(longest, each.visited);
      }
    }
    const LaunchPlan main = makePlan(problem, schedule, gfx950()).launches[0];
    const auto whole = tripsOf(main, RegionKind::mainLoop),
               masked = tripsOf(main, RegionKind::diagonal);
    std::int64_t count = 0, planned = 0, most = 0;
    VisibleSteps sum;
    for (std::size_t i = 0; i < main.kinds.size(); ++i) {
      const std::int64_t times = main.kinds[i].count;
      count += times;
      planned += times * main.kinds[i].usefulM;
      sum += VisibleSteps{whole[i] + masked[i], whole[i]} * times;
      most = std::max<std::int64_t>(most, whole[i] + masked[i]);
    }
    const std::string what = print(problem) + " " + print(schedule);
    ASSERT_EQ(count, tiles * splits) << what;
    ASSERT_EQ(main.workgroups, tiles * splits) << what;
    ASSERT_EQ(planned, useful * splits) << what;
    ASSERT_EQ(sum, steps) << what;
    // Edges of several lengths are counted together.
    ASSERT_LE(most, ceilDiv<std::int64_t>(longest, splits)) << what;
    if (!varlen) {
      ASSERT_EQ(most, ceilDiv<std::int64_t>(longest, splits)) << what;
    }
  }
}

/// What a plan says is read and written of whole tensors is what the problem says.
TEST(AttentionPlan, BuffersAreTheTensors) {
  for (const char *text :
       {"attention b=2 hq=8 hkv=2 sq=300 skv=500 d=128 lse=1",
        "attention b=2 hq=8 hkv=2 sq=3 skv=500 d=64 dtype=fp8 page=16 sinks=1",
        "attention b=4 hq=16 hkv=1 sq=1 skv=500 d=576 dv=512 kvdtype=fp8 page=64"}) {
    const Problem problem = *parseProblem(text);
    const KernelPlan plan = makePlan(problem, defaultSchedule(Family::attention), gfx950());
    std::map<std::string_view, std::int64_t> planned;
    for (const PlanBuffer &buffer : plan.buffers) {
      planned[buffer.name] = buffer.bytes;
    }
    const std::vector<Tensor> all = tensors(problem);
    EXPECT_EQ(planned.size(), all.size()) << text;
    for (const Tensor &tensor : all) {
      EXPECT_EQ(planned[tensor.name], spanBytes(tensor)) << text << " " << tensor.name;
    }
  }
}

/// The wide 8-bit instructions do the same in half the time; LDS delivers half the bytes, V's with
/// a conflict in every read.
TEST(AttentionPlan, EightBitProductsTakeHalfTheTime) {
  const auto use = [](const std::string &types, const std::string &mfma) {
    const Problem problem =
        *parseProblem("attention b=2 hq=32 hkv=8 sq=1024 skv=1024 d=128" + types);
    const Schedule schedule =
        *parseSchedule("attention.1:tile=256x64,waves=8,k=direct,v=direct,rowwaves=8,mfma=" + mfma);
    EXPECT_TRUE(isLegal(problem, schedule, gfx950())) << types;
    const LaunchPlan main = makePlan(problem, schedule, gfx950()).launches[0];
    const auto region = std::ranges::find(main.regions, RegionKind::mainLoop, &Region::kind);
    return loopTotals(problem, schedule, gfx950(), main, *region).use;
  };
  const ResourceUse wide = use("", "32x32x16"), narrow = use(" dtype=fp8", "32x32x64");
  EXPECT_EQ(wide.matrix, 32 * 32);
  EXPECT_EQ(narrow.matrix, 8 * 64);
  EXPECT_EQ(narrow.valu, wide.valu);
  EXPECT_LT(narrow.lds, wide.lds);
  EXPECT_EQ(use(" dtype=fp8", "32x32x16").matrix, 32 * 32);
}

} // namespace
} // namespace kw
