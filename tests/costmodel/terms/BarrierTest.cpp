// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(BarrierTerm, OtherResidentWorkgroupsFillTheGap) {
  LaunchProfile profile = samples::twoRounds();
  const Target &target = samples::gfx950();
  profile.barriers = 60;
  const double alone = terms::barrier(profile, exactRounds(profile, target), target);
  EXPECT_GT(alone, 0);
  profile.workgroups = 1024;
  profile.workgroupsPerCu = 2; // as many batches
  EXPECT_DOUBLE_EQ(terms::barrier(profile, exactRounds(profile, target), target), alone / 2);
}
