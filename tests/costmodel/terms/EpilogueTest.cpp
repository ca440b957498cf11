// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(EpilogueTerm, WrittenBytesTakeTheFabric) {
  LaunchProfile profile = samples::twoRounds();
  const Target &target = samples::gfx950();
  const double before = terms::epilogue(profile, exactRounds(profile, target), target);
  EXPECT_GT(before, 0);
  profile.writtenBytes = target.mallBytesPerSecond * 1e-6;
  EXPECT_NEAR(terms::epilogue(profile, exactRounds(profile, target), target) - before, 1, 1e-9);
}

TEST(EpilogueTerm, NarrowStoresCostInstructions) {
  LaunchProfile profile = samples::twoRounds();
  const Target &target = samples::gfx950();
  profile.storeInstructions = 150;
  const double wide = terms::epilogue(profile, exactRounds(profile, target), target);
  profile.storeInstructions = 300; // 150 x 16 clocks a round, two rounds
  EXPECT_NEAR(terms::epilogue(profile, exactRounds(profile, target), target) - wide, 2, 1e-9);
}
