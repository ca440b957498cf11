// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/support/FloatBits.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kw {
namespace {

/// Exponent of the smallest normal number, 2^this.
int minExponent(FloatFormat format) { return 2 - (1 << (format.exponentBits - 1)); }

std::uint32_t infinityBits(FloatFormat format) {
  return ((1U << format.exponentBits) - 1) << format.mantissaBits;
}

} // namespace

std::uint32_t encodeFloat(FloatFormat format, double value) {
  const std::uint32_t infinity = infinityBits(format);
  if (std::isnan(value)) {
    return infinity | 1U << (format.mantissaBits - 1);
  }
  const std::uint32_t sign =
      std::signbit(value) ? 1U << (format.exponentBits + format.mantissaBits) : 0;
  const double magnitude = std::fabs(value);
  if (std::isinf(value)) {
    return sign | infinity;
  }
  if (magnitude == 0) {
    return sign;
  }
  int exponent = 0;
  std::frexp(magnitude, &exponent); // magnitude = f * 2^exponent, 0.5 <= f < 1
  exponent = std::max(exponent - 1, minExponent(format));
  if (exponent > (1 << (format.exponentBits - 1))) {
    return sign | infinity;
  }
  // Units in the last place; a carry out of the mantissa is just the next exponent.
  const double units = std::nearbyint(std::ldexp(magnitude, format.mantissaBits - exponent));
  const auto scaled = static_cast<std::uint32_t>(exponent - minExponent(format));
  const std::uint32_t bits = (scaled << format.mantissaBits) + static_cast<std::uint32_t>(units);
  return sign | std::min(bits, infinity);
}

double decodeFloat(FloatFormat format, std::uint32_t bits) {
  const std::uint32_t mantissa = bits & ((1U << format.mantissaBits) - 1);
  const std::uint32_t field = (bits >> format.mantissaBits) & ((1U << format.exponentBits) - 1);
  const bool negative = (bits >> (format.exponentBits + format.mantissaBits) & 1U) != 0;
  double magnitude = 0;
  if (field == (1U << format.exponentBits) - 1) {
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else {
    const std::uint32_t whole = field == 0 ? mantissa : mantissa | 1U << format.mantissaBits;
    const int exponent = minExponent(format) + static_cast<int>(std::max(field, 1U)) - 1;
    magnitude = std::ldexp(static_cast<double>(whole), exponent - format.mantissaBits);
  }
  return negative ? -magnitude : magnitude;
}

} // namespace kw
