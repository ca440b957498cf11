// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(Rounds, FullRounds) {
  const Rounds rounds = exactRounds(samples::twoRounds(), samples::gfx950());
  EXPECT_EQ(rounds.workgroups, 2);
  EXPECT_EQ(rounds.batches, 2);
  EXPECT_EQ(rounds.wavesOfSimd, 2);
  EXPECT_EQ(rounds.activeCus, 256);
}

TEST(Rounds, OneWorkgroupMoreIsARoundMore) {
  LaunchProfile profile = samples::twoRounds();
  profile.workgroups = 513;
  EXPECT_EQ(exactRounds(profile, samples::gfx950()).batches, 3);
  EXPECT_NEAR(evenRounds(profile, samples::gfx950()).batches, 513 / 256.0, 1e-12);
  EXPECT_EQ(exactRounds(profile, samples::gfx950()).activeCus, 171);
}

TEST(Rounds, LastRoundMayShareTheCuLess) {
  LaunchProfile profile = samples::twoRounds();
  profile.workgroups = 256 * 3;
  profile.workgroupsPerCu = 2;
  profile.waves = 2; // 2 workgroups together: 1 wave a SIMD; the last one: also 1
  const Rounds rounds = exactRounds(profile, samples::gfx950());
  EXPECT_EQ(rounds.batches, 2);
  EXPECT_EQ(rounds.workgroups, 3);
  EXPECT_EQ(rounds.wavesOfSimd, 2);
}

TEST(Rounds, FewWorkgroupsLeaveCusIdle) {
  LaunchProfile profile = samples::twoRounds();
  profile.workgroups = 100;
  const Rounds rounds = exactRounds(profile, samples::gfx950());
  EXPECT_EQ(rounds.activeCus, 100);
  EXPECT_EQ(rounds.batches, 1);
  EXPECT_EQ(evenRounds(profile, samples::gfx950()).activeCus, 100);
}

TEST(Rounds, NoneEndsBeforeTheLongest) {
  // One a CU, the longest twice the mean: it works alone for half of the time.
  LaunchProfile profile = samples::twoRounds();
  profile.workgroups = 256;
  profile.longestShare = 2;
  const Rounds rounds = exactRounds(profile, samples::gfx950());
  EXPECT_EQ(rounds.batches, 1); // it starts and ends once
  EXPECT_EQ(rounds.walks, 2);
  EXPECT_EQ(rounds.workgroups, 2);
  EXPECT_EQ(rounds.wavesOfSimd, 2);
  EXPECT_EQ(rounds.activeCus, 128);
  EXPECT_EQ(evenRounds(profile, samples::gfx950()).walks, 1);
  // With two rounds of the others the longest is no longer than they are.
  profile.workgroups = 512;
  EXPECT_EQ(exactRounds(profile, samples::gfx950()).walks, 2);
  EXPECT_EQ(exactRounds(profile, samples::gfx950()).activeCus, 256);
}

TEST(Rounds, SharersEndTogether) {
  // 527 pieces in 256 shares of which the longest is 70 / 69.0625 of the mean.
  LaunchProfile profile = samples::twoRounds();
  profile.workgroups = 527;
  profile.sharers = 256;
  profile.longestShare = 70 / 69.0625;
  const Rounds exact = exactRounds(profile, samples::gfx950());
  EXPECT_NEAR(exact.workgroups, 527 / 256.0 * 70 / 69.0625, 1e-12);
  EXPECT_EQ(exact.wavesOfSimd, exact.workgroups);
  EXPECT_EQ(exact.batches, exact.workgroups);
  EXPECT_EQ(exact.activeCus, 256);
  EXPECT_NEAR(evenRounds(profile, samples::gfx950()).workgroups, 527 / 256.0, 1e-12);
  profile.sharers = 512; // two a CU
  profile.workgroupsPerCu = 2;
  profile.workgroups = 1024;
  profile.longestShare = 1;
  EXPECT_EQ(exactRounds(profile, samples::gfx950()).workgroups, 4);
  EXPECT_EQ(exactRounds(profile, samples::gfx950()).batches, 2);
  EXPECT_EQ(exactRounds(profile, samples::gfx950()).residentCopies, 2);
}

TEST(Rounds, EvenIsNeverMoreThanExactAndCusNeverHurt) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 3000; ++round) {
    const LaunchProfile profile = samples::randomProfile(random);
    Target target = samples::gfx950();
    Rounds previous = exactRounds(profile, target);
    const Rounds even = evenRounds(profile, target);
    EXPECT_LE(even.workgroups, previous.workgroups);
    EXPECT_LE(even.wavesOfSimd, previous.wavesOfSimd);
    EXPECT_LE(even.batches, previous.batches);
    EXPECT_GE(even.activeCus, previous.activeCus);
    for (int more = 0; more < 20; ++more) {
      target.cus += std::uniform_int_distribution<int>(1, 30)(random);
      const Rounds now = exactRounds(profile, target);
      EXPECT_LE(now.workgroups, previous.workgroups);
      EXPECT_LE(now.wavesOfSimd, previous.wavesOfSimd);
      EXPECT_LE(now.batches, previous.batches);
      EXPECT_GE(now.activeCus, previous.activeCus);
      previous = now;
    }
  }
}
