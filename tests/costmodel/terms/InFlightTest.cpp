// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(InFlightTerm, CapacityByLatency) {
  LaunchProfile profile = samples::twoRounds();
  const Target &target = samples::gfx950();
  profile.loadBytes = 10.0 * target.bytesInFlightPerCu; // ten fillings, two rounds
  EXPECT_DOUBLE_EQ(terms::inFlight(profile, exactRounds(profile, target), target),
                   microseconds(20 * coldRoundTripCycles(target), target));
}

TEST(InFlightTerm, LittlePrefetchWaitsForLatency) {
  LaunchProfile profile = samples::twoRounds();
  const Target &target = samples::gfx950();
  profile.loadBytes = 64;
  profile.prefetchedTrips = 50;
  EXPECT_DOUBLE_EQ(terms::inFlight(profile, exactRounds(profile, target), target),
                   microseconds(2 * 50 * coldRoundTripCycles(target), target));
}
