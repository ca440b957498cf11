// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/GemmScale.h"

#include "ir/KernelPlan.h"
#include "ir/plans/GemmLoop.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <map>
#include <string>
#include <tuple>

namespace kw {
namespace {

const Target &gfx950() { return **findTarget("gfx950"); }
Problem problemOf(std::string_view text) { return *parseProblem(text); }
Schedule scheduleOf(std::string_view text) { return *parseSchedule(text); }

LaunchPlan launchOf(std::string_view problem, std::string_view schedule) {
  return makePlan(problemOf(problem), scheduleOf(schedule), gfx950()).launches.front();
}

LoopGraph mainLoop(std::string_view problem, std::string_view schedule) {
  const LaunchPlan launch = launchOf(problem, schedule);
  const auto region = std::ranges::find(launch.regions, RegionKind::mainLoop, &Region::kind);
  return loopGraph(problemOf(problem), scheduleOf(schedule), gfx950(), launch, *region);
}

const TileTraffic *find(const LaunchPlan &launch, TileOperand operand) {
  const auto at = std::ranges::find(launch.traffic, operand, &TileTraffic::operand);
  return at == launch.traffic.end() ? nullptr : &*at;
}

/// Operations of a kind and operand: their instructions.
int count(const LoopGraph &loop, TileOpKind kind, TileOperand operand) {
  int sum = 0;
  for (std::size_t i = 0; i < loop.size(); ++i) {
    sum += loop.op(i).kind == kind && loop.op(i).operand == operand ? loop.op(i).count : 0;
  }
  return sum;
}

constexpr const char *mx = "gemm m=4096 n=4096 k=4096 dtype=mxfp8 b=nk";
constexpr const char *blocks = "gemm m=4096 n=4096 k=4096 dtype=fp8 scale=block128 b=nk";

TEST(GemmScale, MxWorkedOutByHand) {
  const char *schedule = "gemm.1:tile=256x256x128,waves=2x4,mfma=16x16x128";
  // A wave has 8 + 4 fragments and one slice: 8 bytes of a's scales a lane, 4 of b's.
  const auto tiles = scaleTiles(problemOf(mx).gemm(), std::get<GemmSchedule>(scheduleOf(schedule)));
  ASSERT_EQ(tiles.size(), 2u);
  EXPECT_EQ(tiles[0].operand, TileOperand::scaleA);
  EXPECT_EQ(tiles[0].registers, 2);
  EXPECT_EQ(tiles[0].loads, 1);
  EXPECT_EQ(tiles[0].bytes, 8);
  EXPECT_EQ(tiles[1].registers, 1);
  EXPECT_EQ(tiles[1].bytes, 4);
  EXPECT_EQ(tiles[0].stepBytes, 256 * 128 / 32);
  const LaunchPlan launch = launchOf(mx, schedule);
  ASSERT_TRUE(find(launch, TileOperand::scaleA) && find(launch, TileOperand::scaleB));
  EXPECT_TRUE(find(launch, TileOperand::scaleA)->byTileM);
  EXPECT_TRUE(find(launch, TileOperand::scaleB)->byTileN);
  EXPECT_EQ(find(launch, TileOperand::scaleB)->bytesPerRow, 1024);
  // One load of each a step, no vector work, 32 products of 32 clocks.
  const LoopGraph loop = mainLoop(mx, schedule);
  EXPECT_EQ(count(loop, TileOpKind::globalLoad, TileOperand::scaleA), 1);
  EXPECT_EQ(count(loop, TileOpKind::globalLoad, TileOperand::scaleB), 1);
  EXPECT_EQ(count(loop, TileOpKind::vector, TileOperand::c), 0);
  EXPECT_EQ(loop.resourceInterval, 32 * 32 * 2);
}

/// 4-bit operands: half the bytes, half the matrix clocks, as many scales.
TEST(GemmScale, FourBitOperandsMoveHalfTheBytes) {
  const char *schedule = "gemm.1:tile=256x256x256,waves=2x4,mfma=16x16x128";
  const LaunchPlan launch = launchOf("gemm m=4096 n=4096 k=4096 dtype=mxfp4 b=nk", schedule);
  EXPECT_EQ(find(launch, TileOperand::a)->bytesPerRow, 128);
  EXPECT_EQ(find(launch, TileOperand::a)->pitchBytes, 2048);
  EXPECT_EQ(launch.ldsBytes, 2 * 2 * 256 * 128);
  EXPECT_EQ(find(launch, TileOperand::scaleA)->bytesPerRow, 256 * 8);
  const LoopGraph loop = mainLoop("gemm m=4096 n=4096 k=4096 dtype=mxfp4 b=nk", schedule);
  EXPECT_EQ(loop.resourceInterval, 8 * 4 * 2 * 16 * 2);
  // 6 bits: 96 bytes a row of 128, read in three parts.
  const LaunchPlan six = launchOf("gemm m=4096 n=4096 k=4096 dtype=mxfp6 b=nk",
                                  "gemm.1:tile=128x128x128,mfma=16x16x128");
  EXPECT_EQ(find(six, TileOperand::b)->bytesPerRow, 96);
  EXPECT_EQ(find(six, TileOperand::b)->pitchBytes, 3072);
}

TEST(GemmScale, BlocksWorkedOutByHand) {
  const char *schedule = "gemm.1:tile=128x128x256,waves=2x2,mfma=16x16x128";
  // A wave has 4 x 4 fragments of 4 registers, two blocks a step: of a, a load of four rows for
  // each fragment and block; of b, one number for each block.
  const GemmSchedule decided = std::get<GemmSchedule>(scheduleOf(schedule));
  const auto tiles = scaleTiles(problemOf(blocks).gemm(), decided);
  EXPECT_EQ(tiles[0].loads, 8);
  EXPECT_EQ(tiles[0].bytes, 16);
  EXPECT_EQ(tiles[0].stepBytes, 4 * 128 * 2);
  EXPECT_EQ(tiles[1].loads, 2);
  EXPECT_EQ(tiles[1].stepBytes, 4 * 1 * 2);
  const BlockScaling scaling = blockScaling(problemOf(blocks).gemm(), decided);
  EXPECT_EQ(scaling.slices, 1);
  EXPECT_EQ(scaling.instructions, 8);
  EXPECT_EQ(scaling.liveFragments, 4);
  const LoopGraph loop = mainLoop(blocks, schedule);
  EXPECT_EQ(count(loop, TileOpKind::vector, TileOperand::c), 16 * 2 * 8);
  EXPECT_EQ(count(loop, TileOpKind::matrix, TileOperand::none), 16 * 2);
  // Four partial sums of four registers, scales of this step and the next.
  EXPECT_EQ(scaleRegisters(problemOf(blocks).gemm(), decided), 16 + 2 * (8 * 4 + 2));
  // With 64 elements of k an instruction, all partial sums of a block live at the same time.
  const GemmSchedule wide =
      std::get<GemmSchedule>(scheduleOf("gemm.1:tile=128x128x128,waves=2x2,mfma=32x32x64"));
  EXPECT_EQ(blockScaling(problemOf(blocks).gemm(), wide).slices, 2);
  EXPECT_EQ(blockScaling(problemOf(blocks).gemm(), wide).liveFragments, 4);
}

/// Scaled loops of every form: each sum follows the last product of its block, a wait stands before
/// the first use of scales, and the vector work is that of all fragments and blocks.
TEST(GemmScale, EveryFormOfLoopScalesEachBlockOnce) {
  for (const char *text :
       {"", ",schedule=interleaved", ",stages=1,prefetch=0", ",stages=3,prefetch=2", ",fragments=1",
        ",quad=1", ",a=lds,b=lds", ",waves=2x4,schedule=pingpong",
        ",waves=2x4,schedule=pingpong,quad=1", ",slicek=2,waves=1x2", ",mfma=32x32x64",
        ",mfma=32x32x64,quad=1", ",mfma=32x32x64,schedule=interleaved"}) {
    std::string schedule = std::string("gemm.1:tile=128x128x256") + text;
    if (schedule.find("mfma") == std::string::npos) {
      schedule += ",mfma=16x16x128";
    }
    SCOPED_TRACE(schedule);
    const GemmSchedule decided = std::get<GemmSchedule>(scheduleOf(schedule));
    const LoopGraph loop = mainLoop(blocks, schedule);
    const int fragments =
        decided.waveTileM() / decided.tiling.mfmaM * decided.waveTileN() / decided.tiling.mfmaN;
    const int slices = decided.tiling.k / decided.tiling.mfmaK / decided.tiling.wavesK;
    const BlockScaling scaling = blockScaling(problemOf(blocks).gemm(), decided);
    EXPECT_EQ(count(loop, TileOpKind::matrix, TileOperand::none), fragments * slices);
    EXPECT_EQ(count(loop, TileOpKind::vector, TileOperand::c),
              fragments * slices / scaling.slices * scaling.instructions);
    std::map<std::tuple<int, int, int>, std::size_t> products; // row, column, slice
    std::size_t waits = 0;
    for (std::size_t i = 0; i < loop.size(); ++i) {
      const TileOp &op = loop.op(i);
      waits += op.kind == TileOpKind::wait &&
                       (op.operand == TileOperand::scaleA || op.operand == TileOperand::scaleB)
                   ? 1
                   : 0;
      if (op.kind == TileOpKind::matrix) {
        products[{op.row, op.column, op.slice}] = i;
      }
      if (op.kind == TileOpKind::vector) {
        EXPECT_EQ(waits, 2u) << "scales are waited for";
        EXPECT_TRUE(products.contains({op.row, op.column, op.slice})) << "sum before its product";
      }
    }
  }
}

TEST(GemmScale, RowScalesAreReadByTheEpilogue) {
  const LaunchPlan launch = launchOf("gemm m=4096 n=4096 k=4096 dtype=i8 scale=row b=nk",
                                     "gemm.1:tile=128x128x128,mfma=16x16x64");
  const TileTraffic *a = find(launch, TileOperand::scaleA), *b = find(launch, TileOperand::scaleB);
  ASSERT_TRUE(a && b);
  EXPECT_FALSE(a->perTrip || b->perTrip);
  EXPECT_EQ(a->rows * a->bytesPerRow, 128 * 4);
  EXPECT_EQ(b->rows * b->bytesPerRow, 128 * 4);
  EXPECT_TRUE(a->byTileM && !a->byTileN && b->byTileN && !b->byTileM);
  // Scales that don't change along k leave the loop as it is.
  EXPECT_EQ(
      mainLoop("gemm m=4096 n=4096 k=4096 dtype=fp8 b=nk", "gemm.1:tile=128x128x128,mfma=16x16x128")
          .size(),
      mainLoop("gemm m=4096 n=4096 k=4096 dtype=fp8 scale=none b=nk",
               "gemm.1:tile=128x128x128,mfma=16x16x128")
          .size());
}

} // namespace
} // namespace kw
