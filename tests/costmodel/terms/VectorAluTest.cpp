// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(VectorAluTerm, WavesOfASimdTakeTurns) {
  LaunchProfile profile = samples::twoRounds();
  profile.valuCycles = 2400;
  const Rounds rounds = exactRounds(profile, samples::gfx950());
  EXPECT_DOUBLE_EQ(terms::vectorAlu(profile, rounds, samples::gfx950()), 2);
}
