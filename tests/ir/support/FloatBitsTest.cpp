// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/support/FloatBits.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace kw {
namespace {

TEST(FloatBits, EveryF16AndBf16ComesBack) {
  for (const FloatFormat format : {f16Format, bf16Format}) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const double value = decodeFloat(format, bits);
      if (!std::isnan(value)) {
        ASSERT_EQ(encodeFloat(format, value), bits);
      }
    }
  }
}

TEST(FloatBits, AgreesWithTheMachineOnF32) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    const auto value = std::bit_cast<double>(random() >> 3 | 0x3600000000000000U);
    ASSERT_EQ(encodeFloat(f32Format, value),
              std::bit_cast<std::uint32_t>(static_cast<float>(value)))
        << value;
    const auto bits = static_cast<std::uint32_t>(random());
    const auto single = std::bit_cast<float>(bits);
    if (!std::isnan(single)) {
      ASSERT_EQ(decodeFloat(f32Format, bits), static_cast<double>(single));
    }
  }
}

TEST(FloatBits, TiesGoToEven) {
  EXPECT_EQ(encodeFloat(f16Format, 2049), 0x6800U) << "down to 2048";
  EXPECT_EQ(encodeFloat(f16Format, 2051), 0x6802U) << "up to 2052";
  EXPECT_EQ(encodeFloat(bf16Format, 1 + std::ldexp(1, -8)), 0x3f80U);
  EXPECT_EQ(encodeFloat(bf16Format, 1 + std::ldexp(3, -8)), 0x3f82U);
  EXPECT_EQ(encodeFloat(f16Format, std::ldexp(1, -25)), 0U) << "half of the least subnormal";
  EXPECT_EQ(encodeFloat(f16Format, std::ldexp(1.5, -25)), 1U);
}

TEST(FloatBits, EdgesOfTheRange) {
  EXPECT_EQ(encodeFloat(f16Format, 65519.99), 0x7bffU);
  EXPECT_EQ(encodeFloat(f16Format, 65520), 0x7c00U) << "infinity";
  EXPECT_EQ(encodeFloat(f16Format, -1e300), 0xfc00U);
  EXPECT_EQ(encodeFloat(f16Format, -0.0), 0x8000U);
  EXPECT_EQ(encodeFloat(bf16Format, std::numeric_limits<double>::denorm_min()), 0U);
  EXPECT_EQ(encodeFloat(bf16Format, std::nan("")), 0x7fc0U);
  EXPECT_TRUE(std::isnan(decodeFloat(f16Format, 0x7c01)));
}

} // namespace
} // namespace kw
