// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/Constants.h"
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(FlushTerm, WritesBackWhatTheL2sHold) {
  LaunchProfile profile = samples::twoRounds();
  const Target &target = samples::gfx950();
  const Rounds rounds = exactRounds(profile, target);
  const double rate = target.hbmBytesPerSecond * target.hbmAchievableFraction;
  profile.writtenBytes = rate * 1e-6; // a microsecond's bytes
  EXPECT_NEAR(terms::flush(profile, rounds, target), 1, 1e-12);
  profile.writtenBytes = 1e12;
  EXPECT_NEAR(terms::flush(profile, rounds, target), constants::dirtyBytesAtEnd / rate * 1e6, 1e-9);
}
