// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(LaunchTerm, FixedCost) {
  const LaunchProfile profile = samples::twoRounds();
  const Target &target = samples::gfx950();
  EXPECT_DOUBLE_EQ(terms::launch(profile, exactRounds(profile, target), target),
                   target.launchSeconds * 1e6);
}
