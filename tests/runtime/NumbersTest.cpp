// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Numbers.h"

#include "ir/support/FloatBits.h"
#include "runtime/RandomValues.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace kw {
namespace {

using enum ElementType;

constexpr ElementType smallFloats[] = {f16, bf16, fp8, bf8, fp6, bf6, fp4};

std::uint64_t codes(ElementType type) { return std::uint64_t{1} << bitWidth(type); }

/// Written from the OCP specification's tables, apart from the code under test.
double decodeByHand(ElementType type, std::uint64_t code) {
  switch (type) {
  case f16:
    return decodeFloat(f16Format, static_cast<std::uint32_t>(code));
  case bf16:
    return decodeFloat(bf16Format, static_cast<std::uint32_t>(code));
  case bf8:
    return decodeFloat({5, 2}, static_cast<std::uint32_t>(code));
  default:
    break;
  }
  const int mantissaBits = type == fp8 || type == fp6 ? 3 : type == bf6 ? 2 : 1;
  const int bias = type == fp8 ? 7 : type == bf6 ? 3 : 1;
  const auto sign = code >> (bitWidth(type) - 1);
  const auto magnitude = static_cast<int>(code & (codes(type) / 2 - 1));
  const int exponent = magnitude >> mantissaBits;
  const double fraction = (magnitude % (1 << mantissaBits)) / double(1 << mantissaBits);
  double value = exponent == 0 ? fraction * std::pow(2, 1 - bias)
                               : (1 + fraction) * std::pow(2, exponent - bias);
  if (type == fp8 && magnitude == 0x7F) {
    value = std::numeric_limits<double>::quiet_NaN();
  }
  return sign != 0 ? -value : value;
}

void expectSame(double a, double b, ElementType type, std::uint64_t code) {
  if (std::isnan(b)) {
    EXPECT_TRUE(std::isnan(a)) << name(type) << " code " << code;
  } else {
    EXPECT_EQ(std::signbit(a), std::signbit(b)) << name(type) << " code " << code;
    EXPECT_EQ(a, b) << name(type) << " code " << code;
  }
}

TEST(Numbers, EveryCodeDecodesToItsValue) {
  for (const ElementType type : smallFloats) {
    for (std::uint64_t code = 0; code < codes(type); ++code) {
      expectSame(decodeNumber(type, code), decodeByHand(type, code), type, code);
    }
  }
}

TEST(Numbers, ArraysDecodeAsSingleElements) {
  for (const ElementType type : smallFloats) {
    const auto count = static_cast<std::int64_t>(codes(type));
    std::vector<std::uint8_t> array(static_cast<std::size_t>(bytesOf(type, count)));
    for (std::int64_t i = 0; i < count; ++i) {
      storeBits(type, array.data(), i, static_cast<std::uint64_t>(i));
    }
    std::vector<double> values(static_cast<std::size_t>(count));
    decodeNumbers(type, array.data(), 0, count, values.data());
    for (std::int64_t i = 0; i < count; ++i) {
      const auto code = static_cast<std::uint64_t>(i);
      EXPECT_EQ(loadBits(type, array.data(), i), code);
      expectSame(values[code], decodeNumber(type, code), type, code);
    }
    decodeNumbers(type, array.data(), 3, 1, values.data());
    expectSame(values[0], decodeNumber(type, 3), type, 3);
  }
}

TEST(Numbers, EveryValueEncodesToItsCode) {
  for (const ElementType type : smallFloats) {
    for (std::uint64_t code = 0; code < codes(type); ++code) {
      const double value = decodeNumber(type, code);
      if (!std::isnan(value)) {
        EXPECT_EQ(encodeNumber(type, value), code) << name(type);
      }
    }
  }
}

TEST(Numbers, ArraysEncodeAsSingleElements) {
  for (const ElementType type : {f32, f16, bf16, fp8, fp4, i8}) {
    std::vector<double> values;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const auto mantissa = static_cast<double>(static_cast<std::int64_t>(randomBits(5, i)));
      values.push_back(std::ldexp(mantissa, -63 + static_cast<int>(i % 50) - 30));
    }
    std::vector<std::uint8_t> array(5000);
    std::vector<std::uint8_t> single(5000);
    encodeNumbers(type, values.data(), array.data(), 3, 1000);
    for (std::int64_t i = 0; i < 1000; ++i) {
      storeBits(type, single.data(), i + 3,
                encodeNumber(type, values[static_cast<std::size_t>(i)]));
    }
    EXPECT_EQ(array, single) << name(type);
  }
}

/// Between all neighbours: the middle goes to the even code, everything else to the nearer one.
TEST(Numbers, RoundsToNearestEven) {
  for (const ElementType type : smallFloats) {
    for (std::uint64_t code = 0; code + 1 < codes(type) / 2; ++code) {
      const double low = decodeNumber(type, code);
      const double high = decodeNumber(type, code + 1);
      if (!std::isfinite(high)) {
        break;
      }
      const double middle = (low + high) / 2;
      EXPECT_EQ(encodeNumber(type, middle), code % 2 == 0 ? code : code + 1) << name(type) << code;
      EXPECT_EQ(encodeNumber(type, std::nextafter(middle, low)), code) << name(type) << code;
      EXPECT_EQ(encodeNumber(type, std::nextafter(middle, high)), code + 1) << name(type) << code;
      EXPECT_EQ(encodeNumber(type, -middle), encodeNumber(type, middle) | codes(type) / 2);
    }
  }
}

TEST(Numbers, AgreesWithTheFormatsOfIr) {
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const std::uint64_t bits = randomBits(1, i);
    double value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    if (i % 2 == 0) { // near the middle of the range too
      value = std::ldexp(static_cast<double>(bits >> 11), static_cast<int>(bits % 80) - 90);
    }
    if (std::isnan(value)) {
      continue;
    }
    EXPECT_EQ(encodeNumber(f16, value), encodeFloat(f16Format, value)) << value;
    EXPECT_EQ(encodeNumber(bf16, value), encodeFloat(bf16Format, value)) << value;
    EXPECT_EQ(encodeNumber(f32, value), encodeFloat(f32Format, value)) << value;
    EXPECT_EQ(encodeNumber(bf8, value), encodeFloat({5, 2}, value)) << value;
  }
}

TEST(Numbers, TooLarge) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(roundTo(f16, 65519), 65504);
  EXPECT_EQ(roundTo(f16, 65520), infinity);
  EXPECT_EQ(roundTo(bf16, -1e39), -infinity);
  EXPECT_EQ(roundTo(bf8, 61439), 57344);
  EXPECT_EQ(roundTo(bf8, 61440), infinity);
  EXPECT_EQ(roundTo(fp8, 463), 448);
  EXPECT_TRUE(std::isnan(roundTo(fp8, 465)));
  EXPECT_TRUE(std::isnan(roundTo(fp8, infinity)));
  EXPECT_EQ(roundTo(fp6, 100), 7.5);
  EXPECT_EQ(roundTo(bf6, 100), 28);
  EXPECT_EQ(roundTo(fp4, -100), -6);
  EXPECT_TRUE(std::isnan(roundTo(bf16, std::nan(""))));
}

TEST(Numbers, Integers) {
  EXPECT_EQ(roundTo(i8, 127.4), 127);
  EXPECT_EQ(roundTo(i8, 200), 127);
  EXPECT_EQ(roundTo(i8, -200), -128);
  EXPECT_EQ(roundTo(u8, -3), 0);
  EXPECT_EQ(roundTo(u8, 300), 255);
  EXPECT_EQ(roundTo(i32, -2147483648.0), -2147483648.0);
  EXPECT_EQ(roundTo(i32, 2.5), 2);
  EXPECT_EQ(roundTo(u64, 1e30), 18446744073709551615.0);
  EXPECT_EQ(roundTo(i64, -5), -5);
  EXPECT_EQ(encodeNumber(i16, -1), 0xFFFFU);
}

TEST(Numbers, PowersOfTwo) {
  EXPECT_EQ(roundTo(e8m0, 1), 1);
  EXPECT_EQ(roundTo(e8m0, 1.4), 1);
  EXPECT_EQ(roundTo(e8m0, 1.6), 2);
  EXPECT_EQ(encodeNumber(e8m0, std::ldexp(1.0, -127)), 0U);
  EXPECT_TRUE(std::isnan(decodeNumber(e8m0, 0xFF)));
}

TEST(Numbers, PackedBitsKeepTheirNeighbours) {
  for (const ElementType type : {fp6, fp4}) {
    std::vector<std::uint8_t> array(24, 0xFF);
    storeBits(type, array.data(), 5, 0);
    for (std::int64_t i = 0; i < 24; ++i) {
      EXPECT_EQ(loadBits(type, array.data(), i), i == 5 ? 0U : codes(type) - 1) << i;
    }
  }
}

TEST(Numbers, UnitRoundoffIsTheLargestRelativeError) {
  for (const ElementType type : {f16, bf16, fp8, bf8}) {
    const double unit = unitRoundoff(type);
    EXPECT_EQ(roundTo(type, 1 + unit), 1) << name(type); // a tie, to even
    EXPECT_EQ(roundTo(type, 1 + 1.01 * unit), 1 + 2 * unit) << name(type);
    EXPECT_EQ(roundTo(type, 1 / unit + 1), 1 / unit) << name(type) << ": first gap of integers";
  }
}

TEST(Numbers, BelowTheSmallestNormalStepsAreEqual) {
  EXPECT_EQ(smallestNormal(f16), 0x1p-14);
  for (const ElementType type : {f16, bf16, fp8, bf8}) {
    const double normal = smallestNormal(type), step = 2 * unitRoundoff(type) * normal;
    EXPECT_EQ(roundTo(type, normal + step), normal + step) << name(type);
    EXPECT_EQ(roundTo(type, normal - step), normal - step) << name(type);
    EXPECT_EQ(roundTo(type, step), step) << name(type);
    EXPECT_EQ(roundTo(type, 0.4 * step), 0) << name(type);
  }
}

} // namespace
} // namespace kw
