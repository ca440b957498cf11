// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(MallTerm, ReadsAndWrites) {
  LaunchProfile profile = samples::twoRounds();
  const Target &target = samples::gfx950();
  profile.mallReadBytes = target.mallBytesPerSecond * 1e-6;
  profile.writtenBytes = profile.mallReadBytes;
  EXPECT_NEAR(terms::mall(profile, exactRounds(profile, target), target), 2, 1e-12);
}
