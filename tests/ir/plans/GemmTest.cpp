// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Expression.h"
#include "ir/KernelPlan.h"
#include "ir/OperandLayout.h"
#include "tests/ir/plans/RandomGemm.h"

#include <gmock/gmock.h>
#include <map>

namespace kw {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

const Target &gfx950() { return **findTarget("gfx950"); }
Problem problemOf(const char *text) { return *parseProblem(text); }
Schedule scheduleOf(const char *text) { return *parseSchedule(text); }

TEST(GemmPlan, LargeTileOfEightWaves) {
  const Problem problem = problemOf("gemm m=4096 n=4096 k=4096 dtype=bf16 b=nk");
  const Schedule schedule = scheduleOf("gemm.1:tile=256x256x64,waves=2x4");
  const KernelPlan plan = makePlan(problem, schedule, gfx950());
  ASSERT_EQ(plan.buffers.size(), 3u);
  EXPECT_EQ(plan.buffers[0].name, "a");
  EXPECT_EQ(plan.buffers[2].role, BufferRole::output);
  EXPECT_EQ(plan.buffers[1].bytes, 4096 * 4096 * 2);

  ASSERT_EQ(plan.launches.size(), 1u);
  const LaunchPlan &launch = plan.launches[0];
  EXPECT_EQ(launch.waves, 8);
  EXPECT_EQ(launch.workgroups, 256);
  EXPECT_EQ(launch.tileM, 256);
  ASSERT_EQ(launch.kinds.size(), 1u);
  EXPECT_EQ(launch.kinds[0].name, "interior");
  EXPECT_EQ(launch.kinds[0].count, 256);
  ASSERT_EQ(launch.regions.size(), 3u);
  EXPECT_EQ(launch.regions[1].kind, RegionKind::mainLoop);
  EXPECT_THAT(launch.kinds[0].trips, ElementsAre(1, 64, 1));
  // Two stages of 256 x 64 x 2 bytes of each operand.
  ASSERT_EQ(launch.lds.size(), 2u);
  EXPECT_EQ(launch.lds[0].bytesPerStage, 32768);
  EXPECT_EQ(launch.lds[0].rowBytes, 128);
  EXPECT_TRUE(launch.lds[0].swizzled);
  EXPECT_EQ(launch.ldsBytes, 131072);
  // A wave has 128 x 64 results, fragments of 8 + 4 rows, 2 slices, 4 registers each.
  EXPECT_EQ(launch.registers.accumulators, 128);
  EXPECT_EQ(launch.registers.fragments, 96);
  EXPECT_EQ(launch.registers.staging, 0);
  EXPECT_EQ(launch.registers.agpr(), 0);
  EXPECT_EQ(launch.occupancy, 2);
  EXPECT_EQ(launch.mapping, (WorkgroupMapping{16, 16, 1, 8, 8}));
  ASSERT_EQ(launch.traffic.size(), 3u);
  EXPECT_EQ(launch.traffic[0].rows, 256);
  EXPECT_EQ(launch.traffic[0].bytesPerRow, 128);
  EXPECT_TRUE(launch.traffic[0].byTileM && !launch.traffic[0].byTileN);
  EXPECT_TRUE(launch.traffic[2].write && !launch.traffic[2].perTrip);
  EXPECT_EQ(launch.traffic[2].bytesPerRow, 512);
}

TEST(GemmPlan, SmallRaggedProblem) {
  const Problem problem = problemOf("gemm m=100 n=50 k=72 dtype=f16 lda=80 ldb=56");
  const Schedule schedule =
      scheduleOf("gemm.1:tile=64x32x32,waves=2x2,a=lds,b=lds,la=padding,lb=plain,stages=1,"
                 "prefetch=1,acc=agpr,group=0,xcd=0");
  const LaunchPlan launch = makePlan(problem, schedule, gfx950()).launches[0];
  EXPECT_EQ(launch.workgroups, 4);
  ASSERT_EQ(launch.kinds.size(), 4u);
  std::map<std::string_view, std::array<int, 3>> kinds;
  for (const WorkgroupKind &kind : launch.kinds) {
    kinds[kind.name] = {static_cast<int>(kind.count), kind.usefulM, kind.usefulN};
    // Prologue, short first step of 8, two whole steps, epilogue.
    EXPECT_THAT(kind.trips, ElementsAre(1, 1, 2, 1));
  }
  EXPECT_EQ(kinds["interior"], (std::array{1, 64, 32}));
  EXPECT_EQ(kinds["edgeM"], (std::array{1, 36, 32}));
  EXPECT_EQ(kinds["edgeN"], (std::array{1, 64, 18}));
  EXPECT_EQ(kinds["corner"], (std::array{1, 36, 18}));
  ASSERT_EQ(launch.regions.size(), 4u);
  EXPECT_EQ(launch.regions[1].kind, RegionKind::tailStep);
  EXPECT_EQ(launch.regions[1].loop, launch.regions[2].loop);
  // a: 64 rows of 64 + 16 bytes. b: 32 rows of k, 64 bytes each, is 2 KiB; one piece of four waves
  // moves 4 KiB, and the stage has room for it.
  EXPECT_EQ(launch.lds[0].rowBytes, 80);
  EXPECT_EQ(launch.lds[0].bytesPerStage, 64 * 80);
  EXPECT_EQ(launch.lds[1].bytesPerStage, 4096);
  EXPECT_EQ(launch.traffic[1].rows, 32);
  EXPECT_EQ(launch.traffic[1].bytesPerRow, 64);
  EXPECT_EQ(launch.traffic[1].pitchBytes, 112);
  // 32 x 16 results a wave; a piece of 16 bytes each for a and b in flight.
  EXPECT_EQ(launch.registers.accumulators, 8);
  EXPECT_EQ(launch.registers.staging, 8);
  EXPECT_EQ(launch.registers.agpr(), 8);
  EXPECT_EQ(launch.mapping, (WorkgroupMapping{2, 2, 1, 1, 0}));
}

TEST(GemmPlan, BatchesAndMatricesThatTheyShare) {
  const Schedule schedule = scheduleOf("gemm.1:group=0,xcd=0");
  const LaunchPlan launch =
      makePlan(problemOf("gemm m=100 n=300 k=64 batch=5 a=km sb=0"), schedule, gfx950())
          .launches[0];
  EXPECT_EQ(launch.workgroups, 15);
  EXPECT_EQ(launch.mapping, (WorkgroupMapping{1, 3, 5, 1, 0}));
  EXPECT_TRUE(launch.traffic[0].byBatch && !launch.traffic[1].byBatch);
  // a=km: rows along k hold the tile's m.
  EXPECT_EQ(launch.traffic[0].rows, 64);
  EXPECT_EQ(launch.traffic[0].bytesPerRow, 256);
  EXPECT_EQ(launch.traffic[0].pitchBytes, 200);
}

TEST(GemmPlan, RandomPlansCountEveryWorkgroupAndElement) {
  RandomGemm random(21);
  for (int trial = 0; trial < 2000; ++trial) {
    const Problem problem = random.problem();
    const Gemm &gemm = problem.gemm();
    const GemmSchedule decided = random.schedule();
    const Schedule schedule(decided);
    const LaunchPlan launch = makePlan(problem, schedule, gfx950()).launches[0];
    std::int64_t workgroups = 0, results = 0;
    for (const WorkgroupKind &kind : launch.kinds) {
      ASSERT_EQ(kind.trips.size(), launch.regions.size());
      workgroups += kind.count;
      results += kind.count * kind.usefulM * kind.usefulN;
      std::int64_t steps = 0;
      for (std::size_t region = 0; region < launch.regions.size(); ++region) {
        const RegionKind which = launch.regions[region].kind;
        steps +=
            which == RegionKind::mainLoop || which == RegionKind::tailStep ? kind.trips[region] : 0;
      }
      ASSERT_EQ(steps, kSteps(gemm, decided.tiling.k));
    }
    ASSERT_EQ(workgroups, launch.workgroups);
    ASSERT_EQ(workgroups, launch.mapping.tiles());
    ASSERT_EQ(results, gemm.m * gemm.n);

    // The text evaluates to the plan's numbers, and the problem satisfies its own kernel's guards.
    const KernelInterface interface = kernelInterface(problem, schedule, gfx950());
    const SizeValues sizes = runtimeSizes(problem);
    ASSERT_EQ(evaluate(interface.launches[0].grid[0], sizes).value(), launch.workgroups);
    for (const std::string &guard : interface.guards) {
      if (guard.find('%') == std::string::npos) { // random strides need not divide
        ASSERT_EQ(evaluate(guard, sizes).value(), 1) << guard;
      }
    }
    ASSERT_EQ(interface.launches[0].block[0], 64u * launch.waves);
  }
}

TEST(GemmPlan, EqualLoopKeysHaveEqualGraphs) {
  RandomGemm random(22);
  const Problem problem = problemOf("gemm m=640 n=640 k=640 dtype=bf16 b=nk");
  std::map<LoopKey, std::string> graphs;
  int repeats = 0;
  for (int trial = 0; trial < 300; ++trial) {
    GemmSchedule decided = random.schedule();
    for (int variant = 0; variant < 3; ++variant) {
      const Schedule schedule(decided);
      const LaunchPlan launch = makePlan(problem, schedule, gfx950()).launches[0];
      for (const Region &region : launch.regions) {
        const std::string text = print(loopGraph(problem, schedule, gfx950(), launch, region));
        const auto [entry, isNew] = graphs.emplace(region.loop, text);
        ASSERT_EQ(entry->second, text);
        repeats += isNew ? 0 : 1;
      }
      // What no loop depends on.
      decided.mapping.groupM += 1;
      decided.accumulator = variant == 0 ? AccumulatorFile::agpr : AccumulatorFile::vgpr;
    }
  }
  EXPECT_GT(repeats, 600);
}

TEST(GemmPlan, EveryLoopDecisionChangesTheKey) {
  const Problem problem = problemOf("gemm m=4096 n=4096 k=4096 dtype=bf16 b=nk");
  const auto keyOf = [&](const char *text) {
    const LaunchPlan launch = makePlan(problem, scheduleOf(text), gfx950()).launches[0];
    return launch.regions[1].loop;
  };
  std::map<LoopKey, std::string> seen;
  for (const char *text :
       {"gemm.1:", "gemm.1:tile=256x128x64", "gemm.1:tile=128x256x64", "gemm.1:tile=128x128x32",
        "gemm.1:waves=1x4", "gemm.1:waves=4x1", "gemm.1:mfma=32x32x16", "gemm.1:a=lds",
        "gemm.1:b=lds", "gemm.1:la=plain", "gemm.1:lb=padding", "gemm.1:va=4", "gemm.1:vb=4",
        "gemm.1:stages=3,prefetch=2", "gemm.1:a=lds,b=lds", "gemm.1:a=lds,b=lds,prefetch=2",
        "gemm.1:schedule=interleaved"}) {
    const auto [entry, isNew] = seen.emplace(keyOf(text), text);
    EXPECT_TRUE(isNew) << text << " has the key of " << entry->second;
  }
  EXPECT_EQ(keyOf("gemm.1:"), keyOf("gemm.1:epi=swap"));
}

TEST(GemmPlan, NeverFailsForWhatTheParserAccepts) {
  const Problem problem = problemOf("gemm m=7 n=5 k=3 dtype=bf16");
  for (const char *text :
       {"gemm.1:tile=1x1x1,waves=16x16,mfma=1x1x1,va=1,vb=3,stages=8,prefetch=8",
        "gemm.1:tile=4096x4096x4096,waves=1x1,mfma=64x64x256,stages=8,prefetch=0",
        "gemm.1:tile=17x33x5,waves=3x5,mfma=16x16x32,a=lds,b=lds,la=padding,lb=padding"}) {
    const auto schedule = parseSchedule(text);
    ASSERT_TRUE(schedule.has_value()) << text;
    const KernelPlan plan = makePlan(problem, *schedule, gfx950());
    EXPECT_GT(plan.launches[0].workgroups, 0);
  }
}

TEST(GemmInterface, ArgumentsAndGuards) {
  const Problem problem = problemOf("gemm m=300 n=512 k=256 dtype=bf16 b=nk");
  const Schedule schedule = scheduleOf("gemm.1:tile=128x128x64,a=lds,va=8,epi=swap");
  const KernelInterface interface = kernelInterface(problem, schedule, gfx950());
  EXPECT_THAT(interface.sizes, ElementsAre("m", "lda", "ldb", "ldc", "batch", "sa", "sb", "sc"));
  ASSERT_EQ(interface.launches.size(), 1u);
  const LaunchInterface &launch = interface.launches[0];
  EXPECT_THAT(launch.grid, ElementsAre("ceildiv(m, 128) * 4", "batch", "1"));
  EXPECT_EQ(launch.kernargBytes, 64);
  std::vector<std::string> arguments;
  for (const KernelArgument &argument : launch.arguments) {
    arguments.push_back(argument.name + "@" + std::to_string(argument.offset));
  }
  EXPECT_THAT(arguments, ElementsAre("a@0", "b@8", "c@16", "m@24", "lda@28", "ldb@32", "ldc@36",
                                     "sa@40", "sb@48", "sc@56"));
  EXPECT_THAT(interface.guards, Contains("m >= 1"));
  EXPECT_THAT(interface.guards, Contains("lda >= 256"));
  EXPECT_THAT(interface.guards, Contains("lda % 4 == 0"));
  EXPECT_THAT(interface.guards, Contains("ldb % 8 == 0"));
  EXPECT_THAT(interface.guards, Contains("ldc >= 512"));
  EXPECT_THAT(interface.guards, Contains("ldc % 4 == 0"));
  EXPECT_THAT(interface.guards, Contains("lda <= 8388607")); // 128 rows within 2^31 bytes
  EXPECT_THAT(interface.guards, Contains("sa % 4 == 0"));
  EXPECT_THAT(interface.guards, Contains("sb % 8 == 0"));
  EXPECT_THAT(interface.guards, Contains("sc % 4 == 0"));
  EXPECT_THAT(interface.guards, Contains("batch <= 65535"));
  EXPECT_THAT(interface.guards, Not(Contains("m % 128 == 0")));
}

TEST(GemmInterface, ContiguousRowsOfMAreWholeVectors) {
  const KernelInterface interface =
      kernelInterface(problemOf("gemm m=304 n=512 k=256 dtype=bf16 a=km"),
                      scheduleOf("gemm.1:a=lds,va=8"), gfx950());
  EXPECT_THAT(interface.guards, Contains("m % 4 == 0"));
  EXPECT_THAT(interface.guards, Contains("lda >= m"));
  EXPECT_THAT(interface.guards, Contains("lda <= 4194303")); // 256 rows within 2^31 bytes
}

TEST(GemmInterface, NamesAreUniquePerCompiledPart) {
  const Schedule schedule = scheduleOf("gemm.1:");
  const std::string name =
      kernelName(problemOf("gemm m=300 n=512 k=256 dtype=bf16 b=nk"), schedule);
  EXPECT_TRUE(name.starts_with("gemm_bf16_mknk_n512_k256_128x128x64_w2x2_")) << name;
  EXPECT_EQ(name, kernelName(problemOf("gemm m=4 n=512 k=256 dtype=bf16 b=nk"), schedule));
  EXPECT_NE(name, kernelName(problemOf("gemm m=4 n=512 k=256 dtype=f16 b=nk"), schedule));
  EXPECT_NE(name, kernelName(problemOf("gemm m=4 n=512 k=256 dtype=bf16 b=nk"),
                             scheduleOf("gemm.1:group=4")));
  for (const char c : name) {
    EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) || c == '_') << name;
  }
}

TEST(GemmInterface, ManifestIsComplete) {
  const Problem problem = problemOf("gemm m=300 n=512 k=256 dtype=bf16 b=nk");
  const Manifest manifest = makeManifest(problem, scheduleOf("gemm.1:"), gfx950(), "kernel.hsaco");
  EXPECT_EQ(manifest.codeObject, "kernel.hsaco");
  EXPECT_EQ(manifest.problem, print(problem));
  EXPECT_EQ(manifest.target, "gfx950");
  ASSERT_EQ(manifest.buffers.size(), 3u);
  EXPECT_EQ(manifest.buffers[0].shape, (std::vector<std::int64_t>{300, 256}));
  EXPECT_EQ(manifest.buffers[0].init.kind, BufferInit::Kind::normal);
  EXPECT_EQ(manifest.buffers[2].init.kind, BufferInit::Kind::poison);
  ASSERT_EQ(manifest.launches.size(), 1u);
  EXPECT_EQ(manifest.launches[0].grid, (std::array<std::uint32_t, 3>{12, 1, 1}));
  EXPECT_EQ(manifest.launches[0].block, (std::array<std::uint32_t, 3>{256, 1, 1}));
  ASSERT_EQ(manifest.launches[0].arguments.size(), 10u);
  const auto &m = std::get<ValueArgument>(manifest.launches[0].arguments[3].value);
  EXPECT_EQ(m.bytes, (std::vector<std::uint8_t>{44, 1, 0, 0}));
}

} // namespace
} // namespace kw
