// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/Overlap.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <random>

using namespace kw;

TEST(Overlap, OneTermIsItself) {
  const std::array<double, 3> terms{0, 7.25, 0};
  EXPECT_DOUBLE_EQ(overlapped(terms), 7.25);
}

TEST(Overlap, TwoEqualTermsCost21PercentMore) {
  const std::array<double, 2> terms{10, 10};
  EXPECT_NEAR(overlapped(terms), 0.98 * 11.892 + 0.02 * 20, 1e-3);
}

TEST(Overlap, NothingTakesNoTime) {
  EXPECT_EQ(overlapped(std::array<double, 2>{0, 0}), 0);
  std::array<double, 2> shares{1, 1};
  EXPECT_EQ(attribute(std::array<double, 2>{0, 0}, shares), 0);
  EXPECT_EQ(shares[0] + shares[1], 0);
}

TEST(Overlap, HiddenWorkCostsLittleButNotNothing) {
  const std::array<double, 2> terms{100, 20};
  std::array<double, 2> shares{};
  attribute(terms, shares);
  EXPECT_EQ(shares[0], 100);
  EXPECT_GT(shares[1], 0.02 * 20);
  EXPECT_LT(shares[1], 0.03 * 20);
}

TEST(Overlap, ChainIsAFloorNotAResource) {
  const std::array<double, 2> pipes{10, 2};
  EXPECT_DOUBLE_EQ(coreTime(pipes, std::array<double, 2>{3, 2}), 10.04); // 2% of the hidden pipe
  EXPECT_EQ(coreTime(pipes, std::array<double, 2>{9, 4}), 13);
}

TEST(Overlap, EqualPipesAreWovenAsWellAsTheChainSays) {
  EXPECT_DOUBLE_EQ(coreTime(std::array<double, 2>{10, 10}, std::array<double, 1>{0}), 10.2);
}

TEST(Overlap, ChainOwnsWhatItExceedsThePipesBy) {
  const std::array<double, 2> pipes{10, 0};
  std::array<double, 2> shares{}, chain{};
  attributeCore(pipes, std::array<double, 2>{9, 4}, 26, shares, chain); // twice its own time
  EXPECT_DOUBLE_EQ(shares[0], 20);
  EXPECT_DOUBLE_EQ(chain[0], 0); // hidden by the pipes
  EXPECT_DOUBLE_EQ(chain[1], 6);
}

TEST(Overlap, SharesAddUpAndTimeRisesWithEveryTerm) {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> draw(1);
  for (int round = 0; round < 5000; ++round) {
    std::array<double, 6> terms;
    for (double &term : terms) {
      term = std::pow(draw(random), 3) * 100;
    }
    std::array<double, 6> shares;
    const double total = attribute(terms, shares);
    EXPECT_EQ(total, overlapped(terms));
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), total, 1e-12 * total);
    EXPECT_GE(total, *std::max_element(terms.begin(), terms.end()));
    const std::span<const double> pipes(terms.data(), 4), chain(terms.data() + 4, 2);
    const double core = coreTime(pipes, chain);
    attributeCore(pipes, chain, 2 * core, std::span(shares.data(), 4),
                  std::span(shares.data() + 4, 2));
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 2 * core, 1e-12 * core);
    for (double &term : terms) {
      const double before = term;
      term *= 1 + draw(random) * 1e-9; // also by next to nothing
      EXPECT_GE(overlapped(terms), total);
      EXPECT_GE(coreTime(pipes, chain), core);
      term = before;
    }
  }
}
