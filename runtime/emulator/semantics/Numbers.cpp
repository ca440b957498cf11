// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/semantics/Numbers.h"

namespace kw::detail {

f32 fromSmall(const SmallFloat &format, u32 bits) {
  const u32 sign = bits >> (format.exponentBits + format.mantissaBits) & 1;
  const u32 exponent = bits >> format.mantissaBits & ((1u << format.exponentBits) - 1);
  const u32 mantissa = bits & ((1u << format.mantissaBits) - 1);
  const u32 topExponent = (1u << format.exponentBits) - 1;
  f32 magnitude;
  if (format.special == SmallFloat::Special::nanOnly && exponent == topExponent &&
      mantissa == (1u << format.mantissaBits) - 1) {
    magnitude = std::numeric_limits<f32>::quiet_NaN();
  } else if (format.special == SmallFloat::Special::ieee && exponent == topExponent) {
    magnitude = mantissa == 0 ? std::numeric_limits<f32>::infinity()
                              : std::numeric_limits<f32>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<f32>(mantissa), 1 - format.bias - format.mantissaBits);
  } else {
    magnitude = std::ldexp(static_cast<f32>(mantissa | 1u << format.mantissaBits),
                           static_cast<int>(exponent) - format.bias - format.mantissaBits);
  }
  return sign ? -magnitude : magnitude;
}

namespace {

/// `steps` is what rounds: to nearest even or towards zero.
template <class Round>
u32 encodeSmall(const SmallFloat &format, f32 x, bool saturate, Round round) {
  const u32 sign = std::signbit(x) ? 1u << (format.exponentBits + format.mantissaBits) : 0;
  const u32 all = (1u << (format.exponentBits + format.mantissaBits)) - 1;
  const bool ieee = format.special == SmallFloat::Special::ieee;
  const u32 nan = all; // all ones is a NaN in both formats that have one
  const u32 infinity = ieee ? ((1u << format.exponentBits) - 1) << format.mantissaBits : nan;
  const u32 largest = format.special == SmallFloat::Special::none ? all
                      : ieee                                      ? infinity - 1
                                                                  : all - 1;
  if (isNan(x)) {
    return sign | nan;
  }
  const f64 magnitude = std::fabs(static_cast<f64>(x));
  // Codes of one sign are ordered and evenly spaced within an exponent: round in units of the last
  // place of the value's exponent.
  int exponent = 1 - format.bias;
  if (magnitude > 0 && !std::isinf(magnitude)) {
    exponent = std::ilogb(magnitude);
  }
  const int lowest = 1 - format.bias;
  exponent = exponent < lowest ? lowest : exponent;
  const bool tooLarge = std::isinf(magnitude) || exponent > 40;
  u32 code = all + 1;
  if (!tooLarge) {
    const f64 steps = round(std::ldexp(magnitude, format.mantissaBits - exponent));
    code = static_cast<u32>(steps) + (static_cast<u32>(exponent - lowest) << format.mantissaBits);
  }
  if (code > largest) {
    const bool clampIt = saturate || format.special == SmallFloat::Special::none;
    return sign | (clampIt ? largest : infinity);
  }
  return sign | code;
}

} // namespace

u32 toSmall(const SmallFloat &format, f32 x, bool saturate) {
  return encodeSmall(format, x, saturate, [](f64 steps) { return __builtin_roundeven(steps); });
}

u32 toSmallStochastic(const SmallFloat &format, f32 x, u32 random, bool saturate) {
  const bool finite = (bitsOf(x) & 0x7f800000) != 0x7f800000;
  const f32 raised = finite ? floatOf(bitsOf(x) + (random >> (9 + format.mantissaBits))) : x;
  return encodeSmall(format, raised, saturate, [](f64 steps) { return std::trunc(steps); });
}

} // namespace kw::detail
