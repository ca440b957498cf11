// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floating-point arithmetic of f32, f64 and f16 in VOP1, VOP2 and VOP3. f16 is computed in f32 and
// rounded once more, which is exact for + - * (24 >= 2 * 11 + 2 bits); f16 fma goes through f64.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/emulator/semantics/Float.cpp"
// In this order: each line needs the one before.
#include "runtime/emulator/semantics/Targets.h"

#include <hwy/foreach_target.h>

#include "runtime/emulator/semantics/Lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kw::detail::HWY_NAMESPACE {

KW_INLINE f32 fusedMultiplyAdd(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
KW_INLINE f64 fusedMultiplyAdd(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
using kw::detail::fusedMultiplyAdd; // of Half

/// IEEE mode: the other operand if one is NaN; -0 < +0.
template <class T> KW_INLINE T minimumNumber(T a, T b) {
  const bool takeA = isNan(b) || a < b || (a == b && std::signbit(a));
  return takeA && !isNan(a) ? a : b;
}
template <class T> KW_INLINE T maximumNumber(T a, T b) {
  const bool takeA = isNan(b) || b < a || (a == b && !std::signbit(a));
  return takeA && !isNan(a) ? a : b;
}
KW_INLINE f32 medianNumber(f32 a, f32 b, f32 c) {
  const f32 low = minimumNumber(minimumNumber(a, b), c);
  const f32 result = maximumNumber(minimumNumber(a, b), minimumNumber(maximumNumber(a, b), c));
  return isNan(a) || isNan(b) || isNan(c) ? low : result;
}
/// v_maximum3, v_minimum3: NaN wins.
KW_INLINE f32 maximumOrNan(f32 a, f32 b) {
  return isNan(a) ? a : isNan(b) ? b : maximumNumber(a, b);
}
KW_INLINE f32 minimumOrNan(f32 a, f32 b) {
  return isNan(a) ? a : isNan(b) ? b : minimumNumber(a, b);
}

/// 2^x in f64, rounded once: within 0.51 ulp. |x - n| <= 1/2; Taylor series of exp(y ln 2).
KW_INLINE f32 exp2Of(f32 x) {
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
  return isNan(x) ? x : static_cast<f32>(p * scale);
}

/// log2(x) in f64: exponent plus atanh series of the mantissa in [sqrt(1/2), sqrt(2)].
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
  return isNan(x) || x < 0 ? std::numeric_limits<f32>::quiet_NaN()
         : x == 0          ? -infinity
         : x == infinity   ? infinity
                           : static_cast<f32>(result);
}

KW_INLINE f32 sineOfTurns(f32 x) {
  return static_cast<f32>(std::sin(static_cast<f64>(x - std::floor(x)) * 6.283185307179586476925));
}
KW_INLINE f32 cosineOfTurns(f32 x) {
  return static_cast<f32>(std::cos(static_cast<f64>(x - std::floor(x)) * 6.283185307179586476925));
}
KW_INLINE f32 reciprocalRoot(f32 x) {
  return static_cast<f32>(1.0 / std::sqrt(static_cast<f64>(x)));
}
template <class T> KW_INLINE T fraction(T x) {
  const T largest = sizeof(T) == 4 ? T(0x1.fffffep-1) : T(0x1.fffffffffffffp-1);
  return std::min<T>(x - std::floor(x), largest);
}
KW_INLINE f32 scaleByPower(f32 x, i32 n) {
  const i32 clamped = std::clamp(n, -400, 400);
  return static_cast<f32>(static_cast<f64>(x) *
                          std::bit_cast<f64>(static_cast<u64>(clamped + 1023) << 52));
}
KW_INLINE i32 exponentOf(f32 x) {
  return x == 0 || std::isinf(x) || isNan(x) ? 0 : std::ilogb(x) + 1;
}
KW_INLINE f32 mantissaOf(f32 x) {
  int exponent = 0;
  return x == 0 || std::isinf(x) || isNan(x) ? x : std::frexp(x, &exponent);
}
/// v_mul_legacy: 0 times anything is 0.
KW_INLINE f32 legacyProduct(f32 a, f32 b) { return a == 0 || b == 0 ? 0.0f : a * b; }

// ---- Division: v_div_scale, v_div_fmas, v_div_fixup [ISA]
// ----------------------------------------

template <class T> struct FloatLayout;
template <> struct FloatLayout<f32> {
  using Bits = u32;
  static constexpr int mantissa = 23, bias = 127, top = 255, scaleBy = 64;
  static constexpr int farApart = 96, smallNumerator = 23;
};
template <> struct FloatLayout<f64> {
  using Bits = u64;
  static constexpr int mantissa = 52, bias = 1023, top = 2047, scaleBy = 128;
  static constexpr int farApart = 768, smallNumerator = 53;
};
template <class T> KW_INLINE int rawExponent(T x) {
  using L = FloatLayout<T>;
  return static_cast<int>(std::bit_cast<typename L::Bits>(x) >> L::mantissa) & L::top;
}
template <class T> KW_INLINE bool isDenormal(T x) { return rawExponent(x) == 0 && x != 0; }

/// Sources: s0 (what is scaled: s1 or s2), s1 denominator, s2 numerator. VCC: fmas must scale.
template <class T> void divScale(Wave &wave, const Op &op) {
  using L = FloatLayout<T>;
  u64 active = wave.exec();
  const u32 *s0 = fetch<T>(wave, op, 0, active), *s1 = fetch<T>(wave, op, 1, active),
            *s2 = fetch<T>(wave, op, 2, active);
  alignas(64) u32 flags[laneCount];
  const auto scaled = [](T x, int by) { return std::ldexp(x, by); };
  for (int l = 0; l < laneCount; ++l) {
    const T what = loadLane<T>(s0, l), d = loadLane<T>(s1, l), n = loadLane<T>(s2, l);
    T result = what;
    bool flag = false;
    if (d == 0 || n == 0) {
      result = std::numeric_limits<T>::quiet_NaN();
    } else if (rawExponent(n) - rawExponent(d) >= L::farApart) {
      flag = true; // the quotient would overflow: scale the denominator up
      result = std::bit_cast<typename L::Bits>(what) == std::bit_cast<typename L::Bits>(d)
                   ? scaled(what, L::scaleBy)
                   : what;
    } else if (isDenormal(d)) {
      result = scaled(what, L::scaleBy);
    } else if (isDenormal(T(1) / d) && isDenormal(n / d)) {
      flag = true; // the denominator down: the quotient then is too large, and normal
      result = what == d ? scaled(what, -L::scaleBy) : what;
    } else if (isDenormal(T(1) / d)) {
      result = scaled(what, -L::scaleBy);
    } else if (isDenormal(n / d)) {
      flag = true;
      result = what == n ? scaled(what, L::scaleBy) : what;
    } else if (rawExponent(n) <= L::smallNumerator) {
      result = scaled(what, L::scaleBy);
    }
    flags[l] = flag;
    storeLane<T>(wave.computed[0], l, result);
  }
  finish<T>(wave, op, active);
  wave.writeScalar64(op.result[1], packBits(flags) & active);
}

/// VCC: v_div_scale scaled one operand, so the quotient is 2^scaleBy too small or too large; which
/// of the two its own size tells.
KW_INLINE f32 divFmas(f32 a, f32 b, f32 c, Bit scale) {
  if (!scale.set) {
    return fusedMultiplyAdd(a, b, c);
  }
  // In f64, so that a denormal quotient is rounded once.
  const f64 exact = fusedMultiplyAdd(static_cast<f64>(a), static_cast<f64>(b), static_cast<f64>(c));
  return static_cast<f32>(exact * (rawExponent(c) > FloatLayout<f32>::bias ? 0x1p64 : 0x1p-64));
}
KW_INLINE f64 divFmas(f64 a, f64 b, f64 c, Bit scale) {
  const f64 result = fusedMultiplyAdd(a, b, c);
  const f64 factor = rawExponent(c) > FloatLayout<f64>::bias ? 0x1p128 : 0x1p-128;
  return scale.set ? result * factor : result;
}

template <class T> KW_INLINE T divFixup(T quotient, T d, T n) {
  const bool negative = std::signbit(d) != std::signbit(n);
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T infinity = std::numeric_limits<T>::infinity();
  T result = std::fabs(quotient);
  const bool dInf = std::isinf(d), nInf = std::isinf(n);
  if (rawExponent(n) - rawExponent(d) < -(sizeof(T) == 4 ? 150 : 1075)) {
    result = 0;
  }
  if (rawExponent(d) == FloatLayout<T>::top && !dInf) {
    return d;
  }
  if (isNan(n)) {
    return n;
  }
  if ((d == 0 && n == 0) || (dInf && nInf)) {
    return nan;
  }
  if (d == 0 || nInf) {
    result = infinity;
  } else if (dInf || n == 0) {
    result = 0;
  }
  return negative ? -result : result;
}

std::span<const Semantics> floatRows() {
  static const Semantics rows[] = {
      {"V_ADD_F32", lanes<[](f32 a, f32 b) { return a + b; }>},
      {"V_SUB_F32", lanes<[](f32 a, f32 b) { return a - b; }>},
      {"V_SUBREV_F32", lanes<[](f32 a, f32 b) { return b - a; }>},
      {"V_MUL_F32", lanes<[](f32 a, f32 b) { return a * b; }>},
      {"V_MUL_LEGACY_F32", lanes<[](f32 a, f32 b) { return legacyProduct(a, b); }>},
      {"V_FMA_F32", lanes<[](f32 a, f32 b, f32 c) { return fusedMultiplyAdd(a, b, c); }>},
      {"V_FMAC_F32", lanes<[](f32 a, f32 b, f32 c) { return fusedMultiplyAdd(a, b, c); }>,
       Flow::accumulate},
      {"V_FMAMK_F32", lanes<[](f32 a, f32 k, f32 b) { return fusedMultiplyAdd(a, k, b); }>},
      {"V_FMAAK_F32", lanes<[](f32 a, f32 b, f32 k) { return fusedMultiplyAdd(a, b, k); }>},
      {"V_MAC_F32", lanes<[](f32 a, f32 b, f32 c) { return a * b + c; }>, Flow::accumulate},
      {"V_MAD_F32", lanes<[](f32 a, f32 b, f32 c) { return a * b + c; }>},
      {"V_MIN_F32", lanes<[](f32 a, f32 b) { return minimumNumber(a, b); }>},
      {"V_MAX_F32", lanes<[](f32 a, f32 b) { return maximumNumber(a, b); }>},
      {"V_MIN3_F32",
       lanes<[](f32 a, f32 b, f32 c) { return minimumNumber(minimumNumber(a, b), c); }>},
      {"V_MAX3_F32",
       lanes<[](f32 a, f32 b, f32 c) { return maximumNumber(maximumNumber(a, b), c); }>},
      {"V_MED3_F32", lanes<[](f32 a, f32 b, f32 c) { return medianNumber(a, b, c); }>},
      {"V_MINIMUM3_F32",
       lanes<[](f32 a, f32 b, f32 c) { return minimumOrNan(minimumOrNan(a, b), c); }>},
      {"V_MAXIMUM3_F32",
       lanes<[](f32 a, f32 b, f32 c) { return maximumOrNan(maximumOrNan(a, b), c); }>},
      {"V_LDEXP_F32", lanes<[](f32 a, i32 b) { return scaleByPower(a, b); }>},
      {"V_FREXP_EXP_I32_F32", lanes<[](f32 a) { return exponentOf(a); }>},
      {"V_FREXP_MANT_F32", lanes<[](f32 a) { return mantissaOf(a); }>},
      {"V_FLOOR_F32", lanes<[](f32 a) { return std::floor(a); }>},
      {"V_CEIL_F32", lanes<[](f32 a) { return std::ceil(a); }>},
      {"V_TRUNC_F32", lanes<[](f32 a) { return std::trunc(a); }>},
      {"V_RNDNE_F32", lanes<[](f32 a) { return std::nearbyint(a); }>},
      {"V_FRACT_F32", lanes<[](f32 a) { return fraction(a); }>},
      {"V_RCP_F32", lanes<[](f32 a) { return 1.0f / a; }>},
      {"V_RCP_IFLAG_F32", lanes<[](f32 a) { return 1.0f / a; }>},
      {"V_RSQ_F32", lanes<[](f32 a) { return reciprocalRoot(a); }>},
      {"V_SQRT_F32", lanes<[](f32 a) { return std::sqrt(a); }>},
      {"V_EXP_F32", lanes<[](f32 a) { return exp2Of(a); }>},
      {"V_LOG_F32", lanes<[](f32 a) { return log2Of(a); }>},
      {"V_SIN_F32", lanes<[](f32 a) { return sineOfTurns(a); }>},
      {"V_COS_F32", lanes<[](f32 a) { return cosineOfTurns(a); }>},
      {"V_DIV_SCALE_F32", divScale<f32>},
      {"V_DIV_FMAS_F32", lanes<[](f32 a, f32 b, f32 c, Bit s) { return divFmas(a, b, c, s); }>},
      {"V_DIV_FIXUP_F32", lanes<[](f32 q, f32 d, f32 n) { return divFixup(q, d, n); }>},

      {"V_ADD_F64", lanes<[](f64 a, f64 b) { return a + b; }>},
      {"V_MUL_F64", lanes<[](f64 a, f64 b) { return a * b; }>},
      {"V_FMA_F64", lanes<[](f64 a, f64 b, f64 c) { return fusedMultiplyAdd(a, b, c); }>},
      {"V_FMAC_F64", lanes<[](f64 a, f64 b, f64 c) { return fusedMultiplyAdd(a, b, c); }>,
       Flow::accumulate},
      {"V_MIN_F64", lanes<[](f64 a, f64 b) { return minimumNumber(a, b); }>},
      {"V_MAX_F64", lanes<[](f64 a, f64 b) { return maximumNumber(a, b); }>},
      {"V_RCP_F64", lanes<[](f64 a) { return 1.0 / a; }>},
      {"V_RSQ_F64", lanes<[](f64 a) { return 1.0 / std::sqrt(a); }>},
      {"V_SQRT_F64", lanes<[](f64 a) { return std::sqrt(a); }>},
      {"V_FLOOR_F64", lanes<[](f64 a) { return std::floor(a); }>},
      {"V_CEIL_F64", lanes<[](f64 a) { return std::ceil(a); }>},
      {"V_TRUNC_F64", lanes<[](f64 a) { return std::trunc(a); }>},
      {"V_RNDNE_F64", lanes<[](f64 a) { return std::nearbyint(a); }>},
      {"V_FRACT_F64", lanes<[](f64 a) { return fraction(a); }>},
      {"V_LDEXP_F64", lanes<[](f64 a, i32 b) { return std::ldexp(a, b); }>},
      {"V_DIV_SCALE_F64", divScale<f64>},
      {"V_DIV_FMAS_F64", lanes<[](f64 a, f64 b, f64 c, Bit s) { return divFmas(a, b, c, s); }>},
      {"V_DIV_FIXUP_F64", lanes<[](f64 q, f64 d, f64 n) { return divFixup(q, d, n); }>},

      {"V_ADD_F16", lanes<[](Half a, Half b) { return toHalf(value(a) + value(b)); }>},
      {"V_SUB_F16", lanes<[](Half a, Half b) { return toHalf(value(a) - value(b)); }>},
      {"V_SUBREV_F16", lanes<[](Half a, Half b) { return toHalf(value(b) - value(a)); }>},
      {"V_MUL_F16", lanes<[](Half a, Half b) { return toHalf(value(a) * value(b)); }>},
      {"V_FMA_F16", lanes<[](Half a, Half b, Half c) { return fusedMultiplyAdd(a, b, c); }>},
      {"V_FMAC_F16", lanes<[](Half a, Half b, Half c) { return fusedMultiplyAdd(a, b, c); }>,
       Flow::accumulate},
      {"V_MIN_F16",
       lanes<[](Half a, Half b) { return toHalf(minimumNumber(value(a), value(b))); }>},
      {"V_MAX_F16",
       lanes<[](Half a, Half b) { return toHalf(maximumNumber(value(a), value(b))); }>},
      {"V_MIN3_F16", lanes<[](Half a, Half b, Half c) {
         return toHalf(minimumNumber(minimumNumber(value(a), value(b)), value(c)));
       }>},
      {"V_MAX3_F16", lanes<[](Half a, Half b, Half c) {
         return toHalf(maximumNumber(maximumNumber(value(a), value(b)), value(c)));
       }>},
      {"V_MED3_F16", lanes<[](Half a, Half b, Half c) {
         return toHalf(medianNumber(value(a), value(b), value(c)));
       }>},
      {"V_RCP_F16", lanes<[](Half a) { return toHalf(1.0f / value(a)); }>},
      {"V_RSQ_F16", lanes<[](Half a) { return toHalf(reciprocalRoot(value(a))); }>},
      {"V_SQRT_F16", lanes<[](Half a) { return toHalf(std::sqrt(value(a))); }>},
      {"V_EXP_F16", lanes<[](Half a) { return toHalf(exp2Of(value(a))); }>},
      {"V_LOG_F16", lanes<[](Half a) { return toHalf(log2Of(value(a))); }>},
      {"V_FLOOR_F16", lanes<[](Half a) { return toHalf(std::floor(value(a))); }>},
      {"V_CEIL_F16", lanes<[](Half a) { return toHalf(std::ceil(value(a))); }>},
      {"V_TRUNC_F16", lanes<[](Half a) { return toHalf(std::trunc(value(a))); }>},
      {"V_RNDNE_F16", lanes<[](Half a) { return toHalf(std::nearbyint(value(a))); }>},
      {"V_LDEXP_F16", lanes<[](Half a, i16 b) { return toHalf(scaleByPower(value(a), b)); }>},
  };
  return rows;
}

} // namespace kw::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kw::detail {
HWY_EXPORT(floatRows);
std::span<const Semantics> floatTable() { return HWY_DYNAMIC_DISPATCH(floatRows)(); }
} // namespace kw::detail
#endif
