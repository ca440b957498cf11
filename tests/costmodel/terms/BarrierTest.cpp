// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/Combine.h"
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(BarrierTerm, OfOneWorkgroupOthersRunBesideIt) {
  LaunchProfile profile = samples::twoRounds();
  const Target &target = samples::gfx950();
  profile.barriers = 60;
  const double alone = terms::barrier(profile, exactRounds(profile, target), target);
  EXPECT_DOUBLE_EQ(alone, microseconds(2 * 60 * target.barrierCycles, target));
  profile.workgroups = 1024;
  profile.workgroupsPerCu = 2; // as many batches
  EXPECT_DOUBLE_EQ(terms::barrier(profile, exactRounds(profile, target), target), alone);
}

TEST(BarrierTerm, CostsNothingWhereTheLoopWaitsForMemory) {
  const Target &target = samples::gfx950();
  LaunchProfile profile = samples::twoRounds();
  profile.barriers = 100;
  profile.sustainedMatrixFraction = 1e3; // the pipes alone
  const auto added = [&] {
    LaunchProfile without = profile;
    without.barriers = 0;
    return launchUs(profile, target) - launchUs(without, target);
  };
  profile.chainCycles = profile.matrixCycles = 50000;
  const double exposed = added();
  EXPECT_GT(exposed, 0.9 * microseconds(2 * 100 * target.barrierCycles, target));
  profile.prefetchedTrips = 500; // memory takes 15 times as long
  EXPECT_LT(added(), 0.05 * exposed);
}
