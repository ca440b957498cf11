// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(L2Term, BytesOverTheXcdsThatWork) {
  LaunchProfile profile = samples::twoRounds();
  profile.l2ReadBytes = 8 * 2048 * 2400.0;
  const Target &target = samples::gfx950();
  EXPECT_DOUBLE_EQ(terms::l2(profile, exactRounds(profile, target), target), 1);
  profile.workgroups = 2;
  EXPECT_DOUBLE_EQ(terms::l2(profile, exactRounds(profile, target), target), 4);
}
