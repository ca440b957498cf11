// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transcendental functions. Included once per SIMD target (Highway's foreach_target).
#if defined(KW_TRANSCENDENTAL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KW_TRANSCENDENTAL_INL_H
#undef KW_TRANSCENDENTAL_INL_H
#else
#define KW_TRANSCENDENTAL_INL_H
#endif

#include "runtime/emulator/semantics/Numbers.h"

#include <bit>
#include <cmath>
#include <limits>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kw::detail::HWY_NAMESPACE {

/// log2(x), 2^x, sine and cosine of turns, one over the root: f64, rounded once more, so within
/// 0.51 units in the last place (hardware promises 1). Denormals are as the callers' format has
/// them.
KW_INLINE f32 exp2Of(f32 x) {
  // |x - n| <= 1/2; Taylor series of exp(y ln 2).
  const f64 clamped = x > 200.0f ? 200.0 : x < -200.0f ? -200.0 : static_cast<f64>(x);
  const f64 shifted = clamped + 0x1.8p52; // rounds to an integer
  const f64 n = shifted - 0x1.8p52;
  const f64 y = (clamped - n) * 0.69314718055994530942;
  f64 p = 1.0 / 479001600;
  constexpr f64 coefficients[] = {1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                                  1.0 / 5040,     1.0 / 720,     1.0 / 120,    1.0 / 24,
                                  1.0 / 6,        0.5,           1.0,          1.0};
  for (const f64 c : coefficients) {
    p = p * y + c;
  }
  const i64 exponent = static_cast<i64>(std::bit_cast<u64>(shifted) << 12) >> 12;
  const f64 scale = std::bit_cast<f64>(static_cast<u64>(exponent + 1023) << 52);
  constexpr f32 infinity = std::numeric_limits<f32>::infinity();
  return isNan(x)         ? quieted(x)
         : x == infinity  ? infinity
         : x == -infinity ? 0.0f
                          : static_cast<f32>(p * scale);
}

/// Exponent plus atanh series of the mantissa in [sqrt(1/2), sqrt(2)].
KW_INLINE f32 log2Of(f32 x) {
  const u64 bits = std::bit_cast<u64>(static_cast<f64>(x));
  const u64 aboveRoot = (bits & 0xfffffffffffff) > 0x6a09e667f3bcd ? 1 : 0;
  const f64 exponent = static_cast<f64>(static_cast<i32>((bits >> 52 & 0x7ff) + aboveRoot) - 1023);
  const f64 m = std::bit_cast<f64>((bits & 0xfffffffffffff) | (1023 - aboveRoot) << 52);
  const f64 t = (m - 1) / (m + 1), s = t * t;
  f64 p = 1.0 / 23;
  for (int k = 21; k >= 1; k -= 2) {
    p = p * s + 1.0 / k;
  }
  const f64 result = exponent + 2 * t * p * 1.4426950408889634074;
  constexpr f32 infinity = std::numeric_limits<f32>::infinity();
  return isNan(x)        ? quieted(x)
         : x < 0         ? invalidResult()
         : x == 0        ? -infinity
         : x == infinity ? infinity
                         : static_cast<f32>(result);
}

/// x minus the nearest integer, exact: within [-1/2, 1/2].
KW_INLINE f64 partOfTurn(f32 x) {
  const f64 exact = x;
  return exact - __builtin_roundeven(exact);
}
/// Folded into a quarter turn, where multiples of a quarter come out exact.
KW_INLINE f32 sineOfTurns(f32 x) {
  const f64 part = partOfTurn(x);
  const f64 folded = std::fabs(part) > 0.25 ? std::copysign(0.5, part) - part : part;
  const f64 sine = std::sin(folded * 6.283185307179586476925);
  return isNan(x)        ? quieted(x)
         : std::isinf(x) ? invalidResult()
         : x == 0        ? x
         : folded == 0   ? 0.0f
                         : static_cast<f32>(sine);
}
KW_INLINE f32 cosineOfTurns(f32 x) {
  const f64 cosine = std::sin((0.25 - std::fabs(partOfTurn(x))) * 6.283185307179586476925);
  return isNan(x) ? quieted(x) : std::isinf(x) ? invalidResult() : static_cast<f32>(cosine);
}
KW_INLINE f32 reciprocalRoot(f32 x) {
  return static_cast<f32>(1.0 / std::sqrt(static_cast<f64>(x)));
}

} // namespace kw::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif // per-target guard
