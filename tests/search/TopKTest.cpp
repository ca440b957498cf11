// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/TopK.h"

#include <gtest/gtest.h>
#include <random>

namespace kw {
namespace {

std::vector<std::uint64_t> ranks(std::vector<Ranked> ranked) {
  std::vector<std::uint64_t> list;
  for (const Ranked &each : ranked) {
    list.push_back(each.place.rank);
  }
  return list;
}

TopK filled(std::size_t k, const std::vector<RankedTime> &stream) {
  TopK top(k);
  for (const RankedTime &place : stream) {
    if (top.wants(place)) {
      top.add({place, Schedule()});
    }
  }
  return top;
}

TEST(TopK, KeepsTheBestAndBreaksTiesByRank) {
  EXPECT_EQ(ranks(filled(3, {{5, 0}, {2, 1}, {2, 9}, {7, 2}, {2, 4}, {1, 8}}).take()),
            (std::vector<std::uint64_t>{8, 1, 4}));
  EXPECT_EQ(ranks(filled(9, {{5, 0}, {2, 1}}).take()), (std::vector<std::uint64_t>{1, 0}));
  EXPECT_TRUE(filled(0, {{5, 0}}).take().empty());
}

TEST(TopK, DoesNotDependOnHowTheStreamWasDivided) {
  std::mt19937_64 random(1);
  std::vector<RankedTime> stream;
  for (std::uint64_t rank = 0; rank < 1000; ++rank) {
    stream.push_back({double(random() % 20), rank});
  }
  const auto whole = ranks(filled(50, stream).take());
  std::shuffle(stream.begin(), stream.end(), random);
  TopK merged(50);
  for (std::size_t part = 0; part < 10; ++part) {
    merged.merge(filled(50, {stream.begin() + part * 100, stream.begin() + (part + 1) * 100}));
  }
  EXPECT_EQ(ranks(merged.take()), whole);
}

} // namespace
} // namespace kw
