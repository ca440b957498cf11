// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(LdsTerm, AllWavesOfACuShareIt) {
  LaunchProfile profile = samples::twoRounds();
  profile.ldsCycles = 1200;
  const Rounds rounds = exactRounds(profile, samples::gfx950());
  EXPECT_DOUBLE_EQ(terms::lds(profile, rounds, samples::gfx950()),
                   4); // 2 rounds x 4 waves x 0.5 us
}
