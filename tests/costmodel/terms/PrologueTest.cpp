// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(PrologueTerm, ExposedEachRoundUnlessOthersFillTheGap) {
  LaunchProfile profile = samples::twoRounds();
  const Target &target = samples::gfx950();
  const double twice = terms::prologue(profile, exactRounds(profile, target), target);
  profile.workgroups = 256;
  const double once = terms::prologue(profile, exactRounds(profile, target), target);
  EXPECT_DOUBLE_EQ(twice, 2 * once);
  profile.workgroups = 1024;
  profile.workgroupsPerCu = 2; // two batches; the second is half hidden
  EXPECT_DOUBLE_EQ(terms::prologue(profile, exactRounds(profile, target), target), 1.5 * once);
}

TEST(PrologueTerm, CountsTheLoopGraphsLength) {
  LaunchProfile profile = samples::twoRounds();
  const Target &target = samples::gfx950();
  const double before = terms::prologue(profile, exactRounds(profile, target), target);
  profile.prologueCycles += 1200;
  EXPECT_NEAR(terms::prologue(profile, exactRounds(profile, target), target) - before, 1, 1e-12);
}
