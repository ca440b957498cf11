// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/Combine.h"
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace kw;

TEST(Combine, NamedPartsAddUpToTheTime) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 3000; ++round) {
    const LaunchProfile profile = samples::randomProfile(random);
    std::array<double, termCount> terms{};
    const double us = addLaunchTerms(profile, samples::gfx950(), terms);
    EXPECT_EQ(us, launchUs(profile, samples::gfx950()));
    EXPECT_NEAR(std::accumulate(terms.begin(), terms.end(), 0.0), us, 1e-11 * us);
    for (const double term : terms) {
      EXPECT_GE(term, 0);
    }
  }
}

TEST(Combine, ABetterMachineIsNeverSlower) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 2000; ++round) {
    const LaunchProfile profile = samples::randomProfile(random);
    const double before = launchUs(profile, samples::gfx950());
    for (const samples::Improvement &improvement : samples::improvements()) {
      Target better = samples::gfx950();
      improvement.apply(better);
      EXPECT_LE(launchUs(profile, better), before) << improvement.what;
    }
  }
}

TEST(Combine, LessWorkIsNeverSlower) {
  static constexpr std::array<double LaunchProfile::*, 17> counts{
      &LaunchProfile::storeInstructions, &LaunchProfile::matrixCycles,
      &LaunchProfile::valuCycles,        &LaunchProfile::ldsCycles,
      &LaunchProfile::chainCycles,       &LaunchProfile::chainedLoads,
      &LaunchProfile::prefetchedTrips,   &LaunchProfile::barriers,
      &LaunchProfile::prologueCycles,    &LaunchProfile::epilogueCycles,
      &LaunchProfile::loadBytes,         &LaunchProfile::l2ReadBytes,
      &LaunchProfile::mallReadBytes,     &LaunchProfile::hbmReadBytes,
      &LaunchProfile::startLoads,        &LaunchProfile::reductionCycles,
      &LaunchProfile::writtenBytes};
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> fraction(0, 1);
  for (int round = 0; round < 2000; ++round) {
    LaunchProfile profile = samples::randomProfile(random);
    const double before = launchUs(profile, samples::gfx950());
    for (const auto count : counts) {
      const double whole = profile.*count;
      profile.*count *= round % 2 == 0 ? fraction(random) : 1 - 1e-10;
      EXPECT_LE(launchUs(profile, samples::gfx950()), before);
      profile.*count = whole;
    }
  }
}

TEST(Combine, AFullLastRoundCostsNothing) {
  LaunchProfile profile = samples::twoRounds();
  profile.matrixCycles = 1e5;
  std::array<double, termCount> terms{};
  addLaunchTerms(profile, samples::gfx950(), terms);
  EXPECT_NEAR(terms[static_cast<std::size_t>(Term::lastRound)], 0, 1e-9);
}

TEST(Combine, ANearlyEmptyLastRoundCostsAlmostARound) {
  LaunchProfile profile = samples::twoRounds();
  profile.matrixCycles = 1e6;
  profile.sustainedMatrixFraction = 1e3; // the pipes alone
  profile.workgroups = 513;
  std::array<double, termCount> terms{};
  addLaunchTerms(profile, samples::gfx950(), terms);
  const double round = 1e6 / 2400; // us
  EXPECT_NEAR(terms[static_cast<std::size_t>(Term::lastRound)], round, 0.01 * round);
}
