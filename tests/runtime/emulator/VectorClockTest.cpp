// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/VectorClock.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <vector>

namespace kw::detail {
namespace {

/// A clock beside a plain map that is to say the same.
struct Pair {
  VectorClock clock;
  std::map<std::uint64_t, Reach> plain;

  void raise(std::uint64_t uid, const Reach &reach) {
    clock.raise(uid, reach);
    plain[uid].join(reach);
  }
  void join(const Pair &other) {
    clock.join(other.clock);
    for (const auto &[uid, reach] : other.plain) {
      plain[uid].join(reach);
    }
  }
  void check() const {
    for (const auto &[uid, reach] : plain) {
      ASSERT_TRUE(clock.find(uid)) << uid;
      EXPECT_EQ(*clock.find(uid), reach) << uid;
    }
  }
};

TEST(VectorClock, SaysWhatAMapSays) {
  std::mt19937_64 random(5);
  std::vector<Pair> pairs(12);
  for (int i = 0; i < 3000; ++i) {
    Pair &pair = pairs[random() % pairs.size()];
    const Pair &other = pairs[random() % pairs.size()];
    const auto small = [&] { return static_cast<std::uint32_t>(random() % 50); };
    switch (random() % 8) {
    case 0:
      pair = other;
      break;
    case 1:
    case 2:
      pair.join(other);
      break;
    case 3:
      pair = Pair();
      break;
    default: // workgroups near each other and far away, up to the last of a launch
      pair.raise(random() % 4 ? random() % 300 : random() >> (28 + random() % 36),
                 {small(), small(), small()});
    }
    pair.check();
    other.check();
  }
}

TEST(VectorClock, KnowsNothingOfOthers) {
  VectorClock clock;
  EXPECT_FALSE(clock.find(0));
  EXPECT_FALSE(clock.find(~std::uint64_t{0}));
  clock.raise(17, {3, 2, 1});
  EXPECT_FALSE(clock.find(15));
  EXPECT_FALSE(clock.find(std::uint64_t{1} << 35));
  EXPECT_EQ(clock.find(17)->through, 2u);
  EXPECT_EQ(*clock.find(16), Reach()); // a wave of the same workgroup
}

} // namespace
} // namespace kw::detail
