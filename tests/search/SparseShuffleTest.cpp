// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/SparseShuffle.h"

#include <array>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace kw {
namespace {

TEST(SparseShuffle, IsAPermutation) {
  for (std::uint64_t size : {0, 1, 2, 7, 1000}) {
    SparseShuffle shuffle(size, size);
    std::set<std::uint64_t> seen;
    while (const auto value = shuffle.next()) {
      EXPECT_LT(*value, size);
      EXPECT_TRUE(seen.insert(*value).second);
    }
    EXPECT_EQ(seen.size(), size);
    EXPECT_FALSE(shuffle.next());
  }
}

TEST(SparseShuffle, EveryOrderIsEquallyLikely) {
  std::map<std::array<std::uint64_t, 3>, int> orders;
  constexpr int rounds = 60000;
  for (int seed = 0; seed < rounds; ++seed) {
    SparseShuffle shuffle(3, static_cast<std::uint64_t>(seed));
    std::array<std::uint64_t, 3> order{};
    for (std::uint64_t &value : order) {
      value = *shuffle.next();
    }
    ++orders[order];
  }
  EXPECT_EQ(orders.size(), 6u);
  for (const auto &[order, count] : orders) {
    EXPECT_NEAR(count, rounds / 6, 600); // 6 sigma
  }
}

TEST(SparseShuffle, BoundsAreUniform) {
  std::mt19937_64 random(1);
  std::array<int, 5> hits{};
  for (int i = 0; i < 50000; ++i) {
    ++hits[uniformBelow(random, 5)];
  }
  for (int count : hits) {
    EXPECT_NEAR(count, 10000, 540); // 6 sigma
  }
  EXPECT_EQ(uniformBelow(random, 1), 0u);
  EXPECT_LT(uniformBelow(random, ~std::uint64_t(0)), ~std::uint64_t(0));
}

} // namespace
} // namespace kw
