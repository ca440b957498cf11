// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(MatrixTerm, WavesOfASimdQueueForItsPipe) {
  LaunchProfile profile = samples::twoRounds();
  profile.waves = 8; // two a SIMD
  profile.matrixCycles = 2400;
  const Rounds rounds = exactRounds(profile, samples::gfx950());
  EXPECT_DOUBLE_EQ(terms::matrix(profile, rounds, samples::gfx950()), 4); // 2 rounds x 2 x 1 us
}
