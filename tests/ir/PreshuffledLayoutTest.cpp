// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/PreshuffledLayout.h"

#include "ir/OperandLayout.h"
#include "ir/Problem.h"

#include <gtest/gtest.h>
#include <set>

namespace kw {
namespace {

TEST(PreshuffledLayout, IsABijectionOntoWholeBlocks) {
  for (const int elementBytes : {1, 2}) {
    const PreshuffledLayout layout{48, 192, elementBytes};
    std::set<std::int64_t> seen;
    for (std::int64_t column = 0; column < layout.n; ++column) {
      for (std::int64_t k = 0; k < layout.k; ++k) {
        const std::int64_t at = layout.index(column, k);
        ASSERT_TRUE(at >= 0 && at < layout.elements());
        ASSERT_TRUE(seen.insert(at).second);
        if (k % layout.packElements() != 0) {
          ASSERT_EQ(at, layout.index(column, k - 1) + 1);
        }
      }
    }
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()), layout.elements());
  }
}

TEST(PreshuffledLayout, OrderWorkedOutByHand) {
  const PreshuffledLayout layout{40, 64, 2}; // 3 x 2 blocks of 16 x 32
  EXPECT_EQ(layout.blocksN(), 3);
  EXPECT_EQ(layout.blocksK(), 2);
  EXPECT_EQ(layout.elements(), 6 * 512);
  EXPECT_EQ(layout.index(0, 7), 7);
  EXPECT_EQ(layout.index(1, 0), 8);
  EXPECT_EQ(layout.index(0, 8), 128);
  EXPECT_EQ(layout.index(0, 32), 512);
  EXPECT_EQ(layout.index(16, 0), 1024);
}

TEST(PreshuffledLayout, TheBufferSaysItsPackedShape) {
  const Problem problem = *parseProblem("gemm m=8 n=40 k=128 dtype=i8 out=i32 b=nk preshuffle=1");
  const Tensor b = tensors(problem)[1];
  EXPECT_EQ(b.shape, (std::vector<std::int64_t>{3, 2, 4, 16, 16}));
  EXPECT_EQ(spanBytes(b), 3 * 2 * 1024);
  const Problem batch = *parseProblem("gemm m=8 n=40 k=64 batch=5 preshuffle=1");
  EXPECT_EQ(tensors(batch)[1].strides[0], 3 * 2 * 512);
  EXPECT_EQ(batch.gemm().sb, 3 * 2 * 512);
  EXPECT_FALSE(parseProblem("gemm m=8 n=40 k=64 ldb=48 preshuffle=1"));
}

/// Every lane loads 16 bytes that are its part of the fragment: gfx950.md 2.3.
void checkFragments(ElementType type, int mfma, int mfmaK, int tileN, int wavesN) {
  Gemm gemm;
  gemm.m = 64;
  gemm.n = gemm.k = 512;
  gemm.aType = gemm.bType = type;
  gemm.preshuffle = true;
  GemmSchedule schedule;
  schedule.tiling = {64, tileN, 128, 1, wavesN, mfma, mfma, mfmaK};
  schedule.b = {OperandPath::registers, LdsLayout::swizzle, 16};
  const OperandTile tile = operandTile(gemm, schedule, TileOperand::b);
  ASSERT_EQ(tile.pieces, tile.fragments * tile.slices);
  ASSERT_EQ(tile.stageBytes(), 0);
  const int perLane = mfma * mfmaK / 64;
  ASSERT_EQ(perLane * tile.elementBytes(), 16);
  for (int wave = 0; wave < wavesN; ++wave) {
    for (int fragment = 0; fragment < tile.fragments; ++fragment) {
      for (int slice = 0; slice < tile.slices; ++slice) {
        for (int lane = 0; lane < 64; ++lane) {
          const int column = wave * tile.waveRows + fragment * mfma + lane % mfma;
          const int k = slice * mfmaK + lane / mfma * perLane;
          ASSERT_EQ(packedAddress(tile, wave, fragment, slice, lane),
                    tile.packed.index(column, k) * tile.elementBytes());
          if (mfma == 16) {
            ASSERT_EQ(packedAddress(tile, wave, fragment, slice, lane),
                      packedAddress(tile, wave, fragment, slice, 0) + 16 * lane)
                << "a wave's load is contiguous";
          }
        }
      }
    }
  }
}

TEST(PreshuffledLayout, FragmentsAreSingleLoads) {
  for (const int tileN : {64, 128, 256}) {
    for (const int waves : {1, 2}) {
      checkFragments(ElementType::bf16, 16, 32, tileN, waves);
      checkFragments(ElementType::bf16, 32, 16, tileN, waves);
      checkFragments(ElementType::i8, 16, 64, tileN, waves);
      checkFragments(ElementType::i8, 32, 32, tileN, waves);
    }
  }
}

} // namespace
} // namespace kw
