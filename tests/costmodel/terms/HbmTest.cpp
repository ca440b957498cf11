// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(HbmTerm, AchievableBandwidthWhenAllCusWork) {
  LaunchProfile profile = samples::twoRounds();
  const Target &target = samples::gfx950();
  profile.hbmReadBytes = target.hbmBytesPerSecond * 1e-6;
  EXPECT_NEAR(terms::hbm(profile, exactRounds(profile, target), target),
              1 / target.hbmAchievableFraction, 1e-12);
}

TEST(HbmTerm, FewCusReachLess) {
  LaunchProfile profile = samples::twoRounds();
  const Target &target = samples::gfx950();
  profile.hbmReadBytes = 1e9;
  const double full = terms::hbm(profile, exactRounds(profile, target), target);
  profile.workgroups = 64;
  // 43% of 98.5% by the ramp's source.
  EXPECT_NEAR(full / terms::hbm(profile, exactRounds(profile, target), target), 0.43, 0.01);
}
