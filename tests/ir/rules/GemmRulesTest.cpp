// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Rule.h"

#include "ir/KernelPlan.h"

#include <gmock/gmock.h>
#include <random>

namespace kw {
namespace {

using testing::HasSubstr;

const Target &gfx950() { return **findTarget("gfx950"); }

constexpr const char *square = "gemm m=4096 n=4096 k=4096 b=nk";

/// The message of `rule`, without its suggestion; empty: it holds.
std::string fact(std::string_view problem, std::string_view schedule, std::string_view rule,
                 const Target &target = gfx950()) {
  const Schedule parsed = *parseSchedule(schedule);
  const Problem parsedProblem = *parseProblem(problem);
  for (const Rule &each : rules(Family::gemm)) {
    if (each.name == rule) {
      return each.holds(parsedProblem, parsed, target)
                 ? ""
                 : each.explain(parsedProblem, parsed, target);
    }
  }
  ADD_FAILURE() << "no rule " << rule;
  return "";
}

TEST(GemmRules, ShapesOfFastKernelsAreLegal) {
  const Problem problem = *parseProblem(square);
  for (const char *text :
       {"gemm.1:", "gemm.1:tile=256x256x64,waves=2x4", "gemm.1:tile=256x256x64,acc=agpr",
        "gemm.1:tile=256x256x64,acc=agpr,epi=swap,schedule=interleaved",
        "gemm.1:tile=16x64x256,waves=1x4", "gemm.1:a=lds,b=lds,prefetch=2",
        "gemm.1:tile=192x128x64,mfma=32x32x16", "gemm.1:stages=3,prefetch=2"}) {
    const auto violations = checkLegal(problem, *parseSchedule(text), gfx950());
    EXPECT_TRUE(violations.empty())
        << text << ": " << violations.front().rule << ": " << violations.front().message;
  }
}

TEST(GemmRules, UnsupportedFeaturesAreNamed) {
  const auto only = [](std::string_view problem) {
    const auto violations = checkLegal(*parseProblem(problem), GemmSchedule(), gfx950());
    EXPECT_EQ(violations.size(), 1u) << problem;
    return violations.empty() ? "" : std::string(violations[0].rule) + ": " + violations[0].message;
  };
  EXPECT_THAT(only("gemm m=64 n=64 k=64 batch=65536"),
              HasSubstr("notSupported.batch: batch=65536"));
  EXPECT_THAT(only("gemm m=64 n=64 k=64 adtype=f32 bdtype=f16"),
              HasSubstr("notSupported.operands"));
  EXPECT_THAT(only("gemm m=64 n=64 k=64 adtype=f16 bdtype=bf16"), HasSubstr("f16 and bf16"));
  EXPECT_THAT(only("gemm m=64 n=64 k=64 adtype=bf16 bdtype=mxfp4"), HasSubstr("bf16 and fp4"));
  EXPECT_THAT(only("gemm m=64 n=64 k=72 preshuffle=1"), HasSubstr("notSupported.preshuffle"));
  EXPECT_THAT(only("gemm m=64 n=64 k=128 dtype=mxfp6 preshuffle=1"), HasSubstr("of fp6"));
  EXPECT_THAT(only("gemm m=64 n=64 k=200 dtype=fp8 scale=block128"),
              HasSubstr("notSupported.scaleBlocks: k=200 ends within a scale"));
  EXPECT_THAT(only("gemm m=64 n=63 k=64 dtype=mxfp4"), HasSubstr("notSupported.wholeBytes"));
  EXPECT_THAT(only("gemm m=64 n=62 k=64 dtype=mxfp6"), HasSubstr("notSupported.wholeBytes"));
  const Target &gfx942 = **findTarget("gfx942");
  for (const char *order : {"a=mk b=kn", "a=km b=nk"}) {
    EXPECT_THAT(fact(std::string("gemm m=64 n=64 k=64 ") + order,
                     "gemm.1:", "notSupported.transposingRead", gfx942),
                HasSubstr("gfx942 has not"));
  }
}

TEST(GemmRules, ScaledOperands) {
  const char *mx = "gemm m=4096 n=4096 k=4096 dtype=mxfp8 b=nk";
  const char *blocks = "gemm m=4096 n=4096 k=4096 dtype=fp8 scale=block128 b=nk";
  const char *sixBits = "gemm m=4096 n=4096 k=4096 dtype=mxfp6";
  for (const auto &[problem, schedule] :
       std::initializer_list<std::pair<const char *, const char *>>{
           {mx, "gemm.1:tile=256x256x128,waves=2x4,mfma=16x16x128,schedule=interleaved"},
           {"gemm m=4096 n=4096 k=4096 dtype=mxfp4 b=nk preshuffle=1",
            "gemm.1:tile=128x256x256,waves=2x4,mfma=16x16x128,b=registers,prefetch=1"},
           {"gemm m=4096 n=4096 k=4096 dtype=fp8 b=nk preshuffle=1",
            "gemm.1:tile=64x128x128,mfma=16x16x128,b=registers"},
           {blocks, "gemm.1:tile=128x128x128,mfma=16x16x128"},
           {sixBits, "gemm.1:tile=128x128x128,mfma=16x16x128,a=lds,b=lds,lb=padding"}}) {
    const auto violations = checkLegal(*parseProblem(problem), *parseSchedule(schedule), gfx950());
    EXPECT_TRUE(violations.empty()) << problem << " " << schedule << ": " << violations.front().rule
                                    << ": " << violations.front().message;
  }
  // 16x16x32 of fp8 has 64 elements of k a pass, 16x16x128 has 128.
  EXPECT_THAT(fact("gemm m=64 n=64 k=64 dtype=fp8", "gemm.1:", "matrixInstruction"),
              HasSubstr("v_mfma_f32_16x16x32_fp8_fp8 runs at half the rate of"));
  EXPECT_THAT(fact(mx, "gemm.1:", "scaledInstruction"), HasSubstr("scale=mx with 16x16x32"));
  EXPECT_THAT(fact(blocks, "gemm.1:tile=128x128x64,mfma=16x16x128", "blockSteps"),
              HasSubstr("tile k=64 and 1 waves along k"));
  EXPECT_THAT(fact(blocks, "gemm.1:acc=agpr", "blockSums"), HasSubstr("acc=vgpr"));
  // A wave of 256 rows: 16 fragments of 16 rows, a load of four scales each, three steps.
  EXPECT_THAT(fact(blocks, "gemm.1:tile=256x64x128,waves=1x4,mfma=16x16x128,stages=3,prefetch=2",
                   "scaleLoads"),
              HasSubstr("51 loads of scales in flight"));
  EXPECT_THAT(fact(sixBits, "gemm.1:b=lds", "wholeReadsB"), HasSubstr("12 bytes at a time"));
  EXPECT_EQ(fact(sixBits, "gemm.1:b=lds", "wholeReadsA"), "");
  EXPECT_THAT(fact("gemm m=64 n=64 k=64 dtype=mxfp8 b=nk", "gemm.1:", "notSupported.operands",
                   **findTarget("gfx942")),
              HasSubstr("gfx942 has no matrix instruction for fp8 and fp8"));
}

TEST(GemmRules, SplitsFillIdleComputeUnits) {
  const char *decode = "gemm m=16 n=1280 k=8192 dtype=bf16 b=nk";
  for (const char *text : {"gemm.1:tile=16x64x128,waves=1x4,splitk=16,group=0",
                           "gemm.1:tile=16x64x128,waves=1x4,splitk=32,reduce=atomic,group=0"}) {
    const auto violations = checkLegal(*parseProblem(decode), *parseSchedule(text), gfx950());
    EXPECT_TRUE(violations.empty())
        << text << ": " << violations.front().rule << ": " << violations.front().message;
  }
  EXPECT_THAT(fact(decode, "gemm.1:tile=16x64x128,splitk=64", "usefulSplit"),
              HasSubstr("splitk=64 of 20 tiles on 256 CUs"));
  EXPECT_THAT(fact(square, "gemm.1:splitk=2", "usefulSplit"), HasSubstr("of 1024 tiles"));
  EXPECT_THAT(fact(decode, "gemm.1:tile=16x64x128,splitk=24", "splitSteps"),
              HasSubstr("with 3 steps each, 22 splits do all"));
  EXPECT_THAT(
      fact("gemm m=16 n=64 k=200 dtype=bf16", "gemm.1:tile=16x64x64,splitk=2", "splitWholeSteps"),
      HasSubstr("k=200"));
  EXPECT_THAT(fact(decode, "gemm.1:reduce=atomic", "usefulReduce"), HasSubstr("adds nothing up"));
}

TEST(GemmRules, Gfx942HasItsOwnInstructionsAndLoads) {
  const Target &gfx942 = **findTarget("gfx942");
  EXPECT_THAT(fact(square, "gemm.1:", "matrixInstruction", gfx942),
              HasSubstr("gfx942 has no matrix instruction 16x16x32"));
  EXPECT_THAT(fact(square, "gemm.1:", "widthA", gfx942),
              HasSubstr("loads straight to LDS take 4 on gfx942"));
  EXPECT_TRUE(isLegal(*parseProblem(square),
                      *parseSchedule("gemm.1:mfma=16x16x16,a=lds,b=lds,tile=128x128x32"), gfx942));
}

// Hand-worked numbers.
TEST(GemmRules, FactsCarryTheNumbers) {
  EXPECT_EQ(fact("gemm m=33 n=64 k=64", "gemm.1:tile=128x64x64", "usefulTileM"),
            "a tile of 128 along m is larger than m=33 needs: at most 64");
  EXPECT_EQ(fact("gemm m=1 n=1 k=1", "gemm.1:tile=16x128x64", "usefulTileN"),
            "a tile of 128 along n is larger than n=1 needs: at most 64");
  EXPECT_EQ(fact("gemm m=1 n=1 k=33", "gemm.1:tile=16x64x128", "usefulTileK"),
            "a tile of 128 along k is larger than k=33 needs: at most 64");
  EXPECT_EQ(fact("gemm m=1 n=1 k=1 dtype=i8", "gemm.1:tile=16x64x64", "usefulTileK"), "");
  EXPECT_EQ(fact(square, "gemm.1:mfma=16x16x16", "matrixInstruction"),
            "v_mfma_f32_16x16x16_bf16 runs at half the rate of v_mfma_f32_16x16x32_bf16");
  EXPECT_EQ(fact(square, "gemm.1:mfma=16x32x16", "matrixInstruction"),
            "gfx950 has no matrix instruction 16x32x16 for bf16 and bf16");
  EXPECT_EQ(fact(square, "gemm.1:tile=48x128x64", "waveTileM"),
            "tile m=48 is not a multiple of 2 waves x 16 of the matrix instruction");
  EXPECT_EQ(fact(square, "gemm.1:waves=1x3", "waveCount"),
            "3 waves a workgroup; accepted: 1 2 4 8 16");
  EXPECT_EQ(fact(square, "gemm.1:waves=1x2", "usefulWaves"),
            "2 waves with 8192 results each; useful are at most 2048");
  EXPECT_EQ(fact(square, "gemm.1:waves=4x4,tile=64x64x64", "usefulWaves"),
            "16 waves with 256 results each; useful are at least 1024");
  EXPECT_EQ(fact(square, "gemm.1:waves=4x4,occupancy=2", "occupancy"),
            "occupancy=2, but a workgroup of 16 waves has 4 on a SIMD");
  EXPECT_EQ(fact(square, "gemm.1:fragments=3", "fragmentsAhead"),
            "fragments=3 with 2 slices a step and stages=2: at most the slices, with two stages or "
            "more");
  EXPECT_EQ(fact(square, "gemm.1:schedule=pingpong", "pingpong"),
            "schedule=pingpong with 4 waves, 2 slices a step, stages=2: needs 8 waves, an even "
            "number of slices or quad=1, two stages or more, and a=direct,b=direct");
  EXPECT_EQ(fact(square, "gemm.1:tile=128x192x64,quad=1", "quadrantsB"),
            "quad=1 with 192 rows of 128 bytes of b, 6 fragments a wave, stages=2: needs k "
            "contiguous, a direct path without padding, two stages or more, a power of two of "
            "rows, an even number of fragments, and halves that are whole loads of 4 waves");
  EXPECT_EQ(fact("gemm m=1024 n=2048 k=64", "gemm.1:grid=persistent", "usefulPersistent"),
            "grid=persistent with 128 tiles on 256 CUs: no workgroup has a second one");
  // 17 x 16 tiles; 16 x 16 divide evenly; one step a tile; 4 tiles with 128 CUs each.
  EXPECT_EQ(fact("gemm m=2100 n=2048 k=4096", "gemm.1:grid=streamk", "usefulStreamK"), "");
  EXPECT_EQ(fact("gemm m=2048 n=2048 k=4096", "gemm.1:grid=streamk", "usefulStreamK"),
            "grid=streamk with 256 tiles of 64 steps on 256 CUs; of use where tiles do not divide "
            "by CUs, with at least 2 steps a CU and at most 32 CUs a tile");
  EXPECT_EQ(fact("gemm m=2100 n=2048 k=64", "gemm.1:grid=streamk", "usefulStreamK"),
            "grid=streamk with 272 tiles of 1 steps on 256 CUs; of use where tiles do not divide "
            "by CUs, with at least 2 steps a CU and at most 32 CUs a tile");
  EXPECT_NE(fact("gemm m=256 n=256 k=65536", "gemm.1:grid=streamk", "usefulStreamK"), "");
  EXPECT_EQ(fact("gemm m=256 n=256 k=65536 batch=3", "gemm.1:grid=streamk", "usefulStreamK"), "");
  EXPECT_EQ(fact("gemm m=2100 n=2048 k=4096", "gemm.1:grid=streamk,splitk=2", "splitGrid"),
            "splitk=2 with grid=streamk, which splits tiles by itself; splitk=1 or grid=tiles");
  EXPECT_EQ(fact("gemm m=2100 n=2048 k=4096 dtype=i8 b=nk", "gemm.1:grid=streamk", "splitSums"),
            "parts of k add up in f32; acc=i32 is summed by one wave: splitk=1, slicek=1, no "
            "grid=streamk");
  EXPECT_NE(fact("gemm m=2100 n=2048 k=4096", "gemm.1:grid=streamk,slicek=2", "sliceLoop"), "");
  EXPECT_EQ(fact("gemm m=2100 n=2048 k=4096", "gemm.1:grid=streamk,reduce=atomic", "usefulReduce"),
            "");
  EXPECT_EQ(fact(square, "gemm.1:tile=128x128x48", "matrixSteps"),
            "tile k=48 is not a multiple of 32 of the matrix instruction x 1 waves");
  // gcd(4095, 4095) * 2 bytes = 8190 = 2 * 4095.
  EXPECT_EQ(fact("gemm m=64 n=64 k=4095", "gemm.1:", "alignmentA"),
            "16 bytes a lane of a, but k=4095 and lda=4095 align rows to 2 bytes");
  EXPECT_EQ(fact("gemm m=64 n=64 k=64 ldb=68", "gemm.1:", "alignmentB"),
            "16 bytes a lane of b, but n=64 and ldb=68 align rows to 8 bytes");
  // gcd(72, 72, 5188) * 2 bytes: a's matrices lie 4 * 1297 elements apart.
  EXPECT_EQ(fact("gemm m=64 n=64 k=72 batch=2 sa=5188", "gemm.1:", "alignmentA"),
            "16 bytes a lane of a, but k=72 and lda=72, sa=5188 align rows to 8 bytes");
  EXPECT_EQ(fact("gemm m=64 n=64 k=72 batch=2 sa=0", "gemm.1:", "alignmentA"), "");
  EXPECT_EQ(fact("gemm m=66 n=64 k=64 a=km lda=72", "gemm.1:", "alignmentA"),
            "16 bytes a lane of a, but m=66 and lda=72 align rows to 4 bytes");
  EXPECT_EQ(fact("gemm m=64 n=64 k=64 dtype=f32", "gemm.1:a=lds,va=2", "widthA"),
            "2 bytes a lane of a, less than an element of 4 bytes");
  EXPECT_EQ(fact(square, "gemm.1:va=8", "widthA"),
            "8 bytes a lane of a; loads straight to LDS take 4 and 16 on gfx950");
  // (256 + 256) rows x 64 x 2 bytes = 65536 a stage.
  EXPECT_EQ(fact(square, "gemm.1:tile=256x256x64,stages=3,prefetch=2", "ldsCapacity"),
            "LDS 196608 > 163840 bytes with 3 stages of 65536");
  EXPECT_EQ(fact(square, "gemm.1:prefetch=2", "prefetch"),
            "prefetch=2 with stages=2: loads run 1 steps ahead");
  EXPECT_EQ(fact(square, "gemm.1:a=lds,b=lds,prefetch=0", "prefetch"),
            "prefetch=0 with stages=2: loads run 1 steps ahead or 2");
  // 128 rows x 512 bytes / (4 waves x 64 lanes x 16 bytes) = 16 loads an operand, twice ahead.
  EXPECT_EQ(fact(square, "gemm.1:tile=128x128x256,stages=3,prefetch=2", "waitCounter"),
            "64 loads of a wave in flight; the wait counter holds 63");
  // b has 64 rows of 512 bytes / (4 waves x 64 lanes x 4 bytes) = 32 loads, 64 with two stages; a
  // has 16 rows x 128 / (4 x 64 x 16) = 1.
  EXPECT_EQ(fact("gemm m=16 n=256 k=64", "gemm.1:tile=16x256x64,waves=1x4,a=lds,vb=4", "loadCount"),
            "33 loads of a wave a step, 64 destinations of direct loads in LDS; registers are "
            "enough for 48 and 40");
  // 36, 16 loads of a (64 x 128 x 2 bytes / (4 x 64 x 4)) and 4 of b (64 x 64 x 2 / (4 x 64 x 8))
  // into two stages, 15 for each operand that walks along k, 3 for each of 4 inputs; a persistent
  // grid has 12 whatever it reads.
  const std::string longEpilogue = "gemm m=20002 n=1000 k=701 a=km beta=1 epilogue=bias,add,mul";
  EXPECT_EQ(fact(longEpilogue, "gemm.1:tile=128x64x64,va=4,vb=8", "scalarRegisters"),
            "about 118 SGPRs (40 destinations of direct loads in LDS, 4 inputs of the epilogue); a "
            "wave's are enough for 112");
  EXPECT_EQ(
      fact(longEpilogue, "gemm.1:tile=128x64x64,va=4,vb=8,grid=persistent", "scalarRegisters"),
      "about 118 SGPRs (40 destinations of direct loads in LDS, a persistent grid); a wave's "
      "are enough for 112");
  // Accumulators in AGPRs pass VGPRs where parts of a tile meet: 64 and 24 more.
  const std::string narrow = "gemm.1:tile=128x128x32,acc=agpr,occupancy=3";
  EXPECT_EQ(fact(square, narrow + ",schedule=interleaved", "registers"), "");
  EXPECT_EQ(fact(square, narrow + ",schedule=interleaved", "streamRegisters"), "");
  EXPECT_EQ(
      fact(square, narrow + ",schedule=interleaved,grid=streamk", "streamRegisters"),
      "grid=streamk: a wave needs 107 VGPRs (0 accumulators, 88 fragments, 0 loads in flight, "
      "19 addresses) and 64 AGPRs; with 12 waves a workgroup it has 93 and 168");
  // A wave's 32 columns of bf16.
  EXPECT_EQ(fact("gemm m=256 n=256 k=64", "gemm.1:tile=128x64x64,waves=2x2,epi=lds", "usefulRows"),
            "epi=lds with 32 columns a wave makes rows of 64 bytes; of use from 128 on");
  EXPECT_EQ(fact("gemm m=64 n=63 k=64", "gemm.1:epi=swap", "swapAlignment"),
            "epi=swap stores 4 neighbours of n; n=63 and ldc=63 must be multiples");
  EXPECT_EQ(fact("gemm m=200 n=64 k=64", "gemm.1:group=4", "usefulGroup"),
            "group=4 with 2 rows of tiles: a shorter group walks the same way");
  EXPECT_EQ(fact("gemm m=512 n=256 k=64", "gemm.1:xcd=1", "usefulRemap"),
            "xcd=1 with at most one workgroup for each of 8 XCDs changes nothing");
  EXPECT_EQ(fact("gemm m=512 n=257 k=64", "gemm.1:xcd=1", "usefulRemap"), "");
  EXPECT_EQ(fact("gemm m=2147483647 n=262144 k=1", "gemm.1:tile=16x64x32", "gridSize"),
            "a grid of 140737488355328 work-items; a dispatch has less than 4294967296");
  EXPECT_EQ(fact("gemm m=128 n=128 k=16777216", "gemm.1:", "addressRange"),
            "offsets within a tile reach 4294967296 bytes; less than 2147483648 fit");
  // Where m or n is contiguous one offset reaches over all of k.
  EXPECT_EQ(fact("gemm m=65536 n=64 k=65536 a=km", "gemm.1:", "addressRange"),
            "offsets within a tile reach 8589934592 bytes; less than 2147483648 fit");
  EXPECT_EQ(fact("gemm m=65536 n=64 k=65536 b=nk", "gemm.1:", "addressRange"), "");
}

TEST(GemmRules, SwizzleAndPaddingMustChangeSomething) {
  // n contiguous, 16 columns: rows of 32 bytes hold one group of a transposing read.
  EXPECT_THAT(fact("gemm m=64 n=64 k=64", "gemm.1:tile=64x16x64", "layoutB"),
              HasSubstr("swizzle of b changes nothing for 64 rows of 32 bytes"));
  EXPECT_EQ(fact("gemm m=64 n=64 k=64", "gemm.1:tile=64x32x64", "layoutB"), "");
  // One chunk of 1 KiB has no room for a pad behind it.
  EXPECT_THAT(fact(square, "gemm.1:tile=16x64x32,la=padding", "layoutA"),
              HasSubstr("padding of a changes nothing for 16 rows of 64 bytes"));
  EXPECT_EQ(fact(square, "gemm.1:tile=16x64x32,a=lds,la=padding", "layoutA"), "");
}

TEST(GemmRules, RegistersLimitTheTile) {
  // 256 x 256 results over 4 waves: 256 accumulators a lane, all VGPRs without AGPRs.
  EXPECT_THAT(fact(square, "gemm.1:tile=256x256x64", "registers"), HasSubstr("256 accumulators"));
  EXPECT_EQ(fact(square, "gemm.1:tile=256x256x64,acc=agpr", "registers"), "");
  // Eight waves are two a SIMD: 256 registers each, AGPRs included.
  EXPECT_EQ(fact(square, "gemm.1:tile=256x256x64,waves=2x4", "registers"), "");
}

TEST(GemmRules, LdsRuleCountsWhatThePlanDoes) {
  const Problem problem = *parseProblem(square);
  std::mt19937_64 random(9);
  for (int round = 0; round < 300; ++round) {
    GemmSchedule schedule;
    schedule.tiling.m = 16 << random() % 5;
    schedule.tiling.n = 16 << random() % 5;
    schedule.tiling.k = 32 << random() % 4;
    schedule.tiling.wavesM = 1 << random() % 3;
    schedule.a.path = random() % 2 != 0 ? OperandPath::lds : OperandPath::direct;
    schedule.a.layout = static_cast<LdsLayout>(random() % 3);
    schedule.b.layout = static_cast<LdsLayout>(random() % 3);
    schedule.pipeline.stages = static_cast<int>(random() % 3) + 1;
    const std::int64_t bytes = makePlan(problem, schedule, gfx950()).launches[0].ldsBytes;
    const bool fits = fact(square, print(Schedule(schedule)), "ldsCapacity").empty();
    EXPECT_EQ(fits, bytes <= 163840) << print(Schedule(schedule));
  }
}

} // namespace
} // namespace kw
