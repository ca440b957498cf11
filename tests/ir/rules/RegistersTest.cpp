// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/rules/Registers.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

const Target &gfx950() { return **findTarget("gfx950"); }

RegisterUse use(int accumulators, int others, bool agpr) {
  return {.accumulators = accumulators, .addresses = others, .accumulatorsInAgpr = agpr};
}

TEST(Registers, OneWaveASimdHas256OfEach) {
  const RegisterBudget budget = registerBudget(use(256, 100, true), 4, gfx950());
  EXPECT_EQ(budget.vgpr, 208); // a margin beside AGPRs
  EXPECT_EQ(budget.agpr, 256);
  EXPECT_TRUE(fits(use(256, 208, true), 4, gfx950()));
  EXPECT_FALSE(fits(use(256, 209, true), 4, gfx950()));
  EXPECT_TRUE(fits(use(128, 128, false), 4, gfx950()));
  EXPECT_FALSE(fits(use(128, 129, false), 4, gfx950()));
}

TEST(Registers, TwoWavesASimdShareAndAgprsAreTakenFromTheShare) {
  EXPECT_TRUE(fits(use(128, 128, false), 8, gfx950()));
  EXPECT_TRUE(fits(use(128, 115, true), 8, gfx950())); // nine tenths of 128
  EXPECT_FALSE(fits(use(128, 116, true), 8, gfx950()));
  // 100 AGPRs take 104, the granule is 8: nine tenths of 152.
  EXPECT_EQ(registerBudget(use(100, 0, true), 8, gfx950()).vgpr, 136);
  // Sixteen waves: four a SIMD, 128 registers each.
  EXPECT_EQ(registerBudget(use(0, 0, false), 16, gfx950()).vgpr, 128);
}

TEST(Registers, AShortageShowsItsParts) {
  EXPECT_EQ(registerShortage({200, 40, 20, 30, false}, 8, gfx950()),
            "a wave needs 290 VGPRs (200 accumulators, 40 fragments, 20 loads in flight, 30 "
            "addresses) and 0 AGPRs; with 8 waves a workgroup it has 256 and 256");
}

} // namespace
} // namespace kw
