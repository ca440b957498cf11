// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/Constants.h"
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(SustainedClockTerm, FullDutySustainsAFractionOfPeak) {
  LaunchProfile profile = samples::twoRounds();
  profile.matrixCycles = 2400;
  profile.sustainedMatrixFraction = 0.5;
  const Rounds rounds = exactRounds(profile, samples::gfx950());
  EXPECT_DOUBLE_EQ(terms::sustainedClock(profile, rounds, samples::gfx950()), 4); // 2 us at peak
}

TEST(SustainedClockTerm, VectorWorkDrawsPowerTooButNeverLimitsItself) {
  LaunchProfile profile = samples::twoRounds();
  profile.matrixCycles = 2400;
  profile.sustainedMatrixFraction = 0.7;
  const Target &target = samples::gfx950();
  const Rounds rounds = exactRounds(profile, target);
  const double matrixAlone = terms::sustainedClock(profile, rounds, target);
  profile.valuCycles = 2400;
  EXPECT_NEAR(terms::sustainedClock(profile, rounds, target),
              (1 + constants::vectorPower) * matrixAlone, 1e-12);
  profile.matrixCycles = 0;
  EXPECT_LT(terms::sustainedClock(profile, rounds, target),
            terms::vectorAlu(profile, rounds, target));
}

TEST(SustainedClockTerm, IdleCusLeaveTheClockUp) {
  LaunchProfile profile = samples::twoRounds();
  profile.workgroups = 64;
  profile.matrixCycles = 2400;
  profile.sustainedMatrixFraction = 0.5;
  const Rounds rounds = exactRounds(profile, samples::gfx950());
  EXPECT_LT(terms::sustainedClock(profile, rounds, samples::gfx950()),
            terms::matrix(profile, rounds, samples::gfx950()));
}
