// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/RandomValues.h"

#include "runtime/Numbers.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace kw {
namespace {

using Kind = RandomSource::Kind;

std::vector<double> draw(RandomSource source, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = source.value(i);
  }
  return values;
}

double mean(const std::vector<double> &values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

TEST(RandomValues, NormalHasMeanZeroAndVarianceOne) {
  std::vector<double> values = draw({Kind::normal, 7}, 200000);
  EXPECT_NEAR(mean(values), 0, 0.01);
  for (double &value : values) {
    EXPECT_LT(std::fabs(value), 3.47);
    value *= value;
  }
  EXPECT_NEAR(mean(values), 1, 0.02);
}

TEST(RandomValues, UniformFillsItsRange) {
  const std::vector<double> values = draw({Kind::uniform, 3, 2.0}, 100000);
  double low = 0;
  double high = 0;
  for (const double value : values) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  EXPECT_GE(low, -2);
  EXPECT_LT(high, 2);
  EXPECT_LT(low, -1.99);
  EXPECT_GT(high, 1.99);
}

TEST(RandomValues, IntegersTakeEveryValueOfTheirRange) {
  RandomSource source{Kind::integers, 3};
  source.range = 5;
  const std::vector<double> values = draw(source, 10000);
  const std::set<double> seen(values.begin(), values.end());
  EXPECT_EQ(seen.size(), 11U);
  EXPECT_EQ(*seen.begin(), -5);
  EXPECT_EQ(*seen.rbegin(), 5);
}

TEST(RandomValues, SeedsGiveOtherStreams) {
  std::size_t equal = 0;
  std::set<std::uint64_t> all;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    equal += randomBits(1, i) == randomBits(2, i) ? 1 : 0;
    all.insert(randomBits(1, i));
    all.insert(randomBits(2, i));
  }
  EXPECT_EQ(equal, 0U);
  EXPECT_EQ(all.size(), 2000U) << "no shared section either";
}

TEST(RandomValues, PartsAreThePartsOfTheWhole) {
  for (const Kind kind : {Kind::normal, Kind::uniform, Kind::integers, Kind::bytes}) {
    for (const ElementType type : {ElementType::bf16, ElementType::f32, ElementType::fp4}) {
      const RandomSource source{kind, 11};
      std::vector<std::uint8_t> whole(400);
      std::vector<std::uint8_t> parts(400);
      const std::int64_t count = 400 * 8 / bitWidth(type);
      fillRandom(source, type, whole.data(), 0, count);
      fillRandom(source, type, parts.data(), count / 3, count - count / 3);
      fillRandom(source, type, parts.data(), 0, count / 3);
      EXPECT_EQ(whole, parts) << name(type);
    }
  }
}

TEST(RandomValues, UnsignedTypesTakeMagnitudes) {
  std::vector<std::uint8_t> bytes(1000);
  RandomSource source{Kind::integers, 1};
  fillRandom(source, ElementType::u8, bytes.data(), 0, 1000);
  for (const std::uint8_t byte : bytes) {
    EXPECT_LE(byte, 4);
  }
}

} // namespace
} // namespace kw
