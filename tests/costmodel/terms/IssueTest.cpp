// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(IssueTerm, ResidentWorkgroupsRunBesideEachOther) {
  LaunchProfile profile = samples::twoRounds();
  profile.chainCycles = 2400;
  EXPECT_DOUBLE_EQ(
      terms::issue(profile, exactRounds(profile, samples::gfx950()), samples::gfx950()), 2);
  profile.workgroupsPerCu = 2;
  EXPECT_DOUBLE_EQ(
      terms::issue(profile, exactRounds(profile, samples::gfx950()), samples::gfx950()), 1);
}

TEST(IssueTerm, LoadsInTheChainWaitForHbm) {
  LaunchProfile profile = samples::twoRounds();
  profile.workgroups = 1;
  profile.chainedLoads = 3;
  const Target &target = samples::gfx950();
  EXPECT_DOUBLE_EQ(
      terms::issue(profile, exactRounds(profile, target), target),
      microseconds(3 * (coldRoundTripCycles(target) - target.l2LatencyCycles), target));
}
