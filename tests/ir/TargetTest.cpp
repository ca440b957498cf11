// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Target.h"

#include <gmock/gmock.h>
#include <set>
#include <tuple>

namespace kw {
namespace {

using enum ElementType;

const Target &target(std::string_view name) { return **findTarget(name); }

TEST(Target, IsFoundByName) {
  EXPECT_EQ(targets().front()->name, "gfx950");
  EXPECT_EQ(target("gfx942").product, "AMD Instinct MI300X");
  EXPECT_THAT(findTarget("gfx90a").error().message, testing::HasSubstr("gfx950, gfx942"));
}

// The data sheets' peaks, recomputed from instruction cycles, SIMDs, CUs and clock.
TEST(Target, PeaksMatchTheDataSheets) {
  const Target &gfx950 = target("gfx950");
  EXPECT_NEAR(peakFlops(gfx950, bf16, bf16), 2.5166e15, 1e12);
  EXPECT_NEAR(peakFlops(gfx950, f16, f16), 2.5166e15, 1e12);
  EXPECT_NEAR(peakFlops(gfx950, fp8, fp8), 5.033e15, 1e12);
  EXPECT_NEAR(peakFlops(gfx950, fp8, fp4), 5.033e15, 1e12);
  EXPECT_NEAR(peakFlops(gfx950, fp4, fp4), 10.066e15, 1e12);
  EXPECT_NEAR(peakFlops(gfx950, fp6, fp4), 10.066e15, 1e12);
  EXPECT_NEAR(peakFlops(gfx950, i8, i8), 5.033e15, 1e12);
  EXPECT_NEAR(peakFlops(gfx950, f32, f32), 157.3e12, 1e11);
  EXPECT_NEAR(peakFlops(gfx950, f64, f64), 78.6e12, 1e11);
  const Target &gfx942 = target("gfx942");
  EXPECT_NEAR(peakFlops(gfx942, f16, f16), 1307.4e12, 1e11);
  EXPECT_NEAR(peakFlops(gfx942, i8, i8), 2614.9e12, 1e11);
  EXPECT_NEAR(peakFlops(gfx942, f32, f32), 163.4e12, 1e11);
  EXPECT_NEAR(peakFlops(gfx942, f64, f64), 163.4e12, 1e11);
  EXPECT_EQ(peakFlops(gfx942, fp8, fp8), 0);
}

TEST(Target, MatrixInstructionsAreConsistent) {
  for (const Target *each : targets()) {
    std::set<std::tuple<int, int, int, ElementType, ElementType>> seen;
    for (const MatrixInstruction &row : each->matrixInstructions) {
      EXPECT_TRUE(seen.insert({row.m, row.n, row.k, row.a, row.b}).second) << row.mnemonic;
      EXPECT_EQ(row.aRegisters * 2048, row.m * row.k * bitWidth(row.a)) << row.mnemonic;
      EXPECT_EQ(row.bRegisters * 2048, row.n * row.k * bitWidth(row.b)) << row.mnemonic;
      EXPECT_EQ(row.accumulatorRegisters * 2048, row.m * row.n * bitWidth(row.accumulator))
          << row.mnemonic;
      EXPECT_EQ(findMatrixInstruction(*each, row.m, row.n, row.k, row.a, row.b), &row);
    }
  }
  EXPECT_EQ(findMatrixInstruction(target("gfx950"), 16, 16, 32, bf16, bf16)->cycles, 16);
  EXPECT_EQ(findMatrixInstruction(target("gfx950"), 32, 32, 16, f16, f16)->mnemonic,
            "v_mfma_f32_32x32x16_f16");
  EXPECT_EQ(findMatrixInstruction(target("gfx942"), 16, 16, 32, bf16, bf16), nullptr);
  EXPECT_EQ(findMatrixInstruction(target("gfx950"), 16, 16, 32, bf16, f16), nullptr);
}

TEST(Target, LdsPhasesServeEveryLaneOnceAndEvenly) {
  for (const Target *each : targets()) {
    for (const LdsPhases &row : each->ldsPhases) {
      ASSERT_EQ(row.phaseOfLane.size(), 64u);
      std::vector<int> lanes(static_cast<std::size_t>(row.phases));
      for (std::uint8_t phase : row.phaseOfLane) {
        ASSERT_LT(phase, row.phases);
        ++lanes[phase];
      }
      for (int count : lanes) {
        EXPECT_EQ(count * row.phases, 64);
        // One phase without conflict moves what all banks hold.
        EXPECT_EQ(count * row.bytesPerLane, row.banks * 4);
      }
    }
  }
}

TEST(Target, Gfx950Reads16BytesInTheMeasuredGroups) {
  for (const LdsPhases &row : target("gfx950").ldsPhases) {
    if (row.bytesPerLane == 16 && !row.write) {
      for (int lane : {0, 3, 12, 15, 20, 27}) {
        EXPECT_EQ(row.phaseOfLane[lane], 0);
        EXPECT_EQ(row.phaseOfLane[lane + 32], 2);
      }
      for (int lane : {4, 11, 16, 19, 28, 31}) {
        EXPECT_EQ(row.phaseOfLane[lane], 1);
        EXPECT_EQ(row.phaseOfLane[lane + 32], 3);
      }
    }
  }
}

} // namespace
} // namespace kw
