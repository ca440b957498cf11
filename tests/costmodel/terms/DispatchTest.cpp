// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(DispatchTerm, AWaveEverySixteenClocksAndEngine) {
  LaunchProfile profile = samples::twoRounds();
  profile.workgroups = 2400 * 8; // x 4 waves, 16 clocks, 32 engines
  const Target &target = samples::gfx950();
  EXPECT_DOUBLE_EQ(terms::dispatch(profile, exactRounds(profile, target), target), 16);
}
