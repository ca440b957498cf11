// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floating-point arithmetic of f32 and f64 in VOP1, VOP2 and VOP3; f16 is in Half.cpp.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/emulator/semantics/Float.cpp"
// In this order: each line needs the one before.
#include "runtime/emulator/semantics/Targets.h"

#include <hwy/foreach_target.h>

#include "runtime/emulator/FloatMode.h"
#include "runtime/emulator/semantics/Extremes.h"
#include "runtime/emulator/semantics/Lanes-inl.h"
#include "runtime/emulator/semantics/Transcendental-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kw::detail::HWY_NAMESPACE {

KW_INLINE f32 fusedMultiplyAdd(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
KW_INLINE f64 fusedMultiplyAdd(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }

/// Min, max and median, chosen by MODE.
template <class T, bool ieee, bool flush> struct ExtremesOf {
  using E = Extremes<ieee, flush>;
  static void minimum(Wave &w, const Op &op) {
    lanes<[](T a, T b) { return E::minimum(a, b); }>(w, op);
  }
  static void maximum(Wave &w, const Op &op) {
    lanes<[](T a, T b) { return E::maximum(a, b); }>(w, op);
  }
  static void minimum3(Wave &w, const Op &op) {
    lanes<[](T a, T b, T c) { return E::minimum3(a, b, c); }>(w, op);
  }
  static void maximum3(Wave &w, const Op &op) {
    lanes<[](T a, T b, T c) { return E::maximum3(a, b, c); }>(w, op);
  }
  static void median(Wave &w, const Op &op) {
    lanes<[](T a, T b, T c) { return E::median(a, b, c); }>(w, op);
  }
  static void minimumOrNan3(Wave &w, const Op &op) {
    lanes<[](T a, T b, T c) { return E::minimumOrNan3(a, b, c); }>(w, op);
  }
  static void maximumOrNan3(Wave &w, const Op &op) {
    lanes<[](T a, T b, T c) { return E::maximumOrNan3(a, b, c); }>(w, op);
  }
};
#define KW_BY_MODE(T, NAME)                                                                        \
  +[](Wave &wave, const Op &op) {                                                                  \
    const bool ieee = wave.mode >> modeBit::ieee & 1;                                              \
    const bool keeps = keepsDenormals(sizeof(T) == 8 ? doubleMode(wave.mode) : wave.mode);         \
    ieee ? (keeps ? ExtremesOf<T, true, false>::NAME : ExtremesOf<T, true, true>::NAME)(wave, op)  \
         : (keeps ? ExtremesOf<T, false, false>::NAME : ExtremesOf<T, false, true>::NAME)(wave,    \
                                                                                          op);     \
  }

/// f64 under its own rounding and denormal mode.
template <Handler handler> void underDoubleMode(Wave &wave, const Op &op) {
  std::optional<HostFloatMode> host;
  if (hasOwnDoubleMode(wave.mode)) [[unlikely]] {
    host.emplace(doubleMode(wave.mode));
  }
  handler(wave, op);
}
template <auto F> void doubles(Wave &wave, const Op &op) { underDoubleMode<lanes<F>>(wave, op); }

template <class T> KW_INLINE T fraction(T x) {
  const T largest = sizeof(T) == 4 ? T(0x1.fffffep-1) : T(0x1.fffffffffffffp-1);
  const T part = x - std::floor(x);
  return part > largest ? largest : part;
}
KW_INLINE f32 scaleByPower(f32 x, i32 n) {
  const i32 clamped = std::clamp(n, -400, 400);
  return static_cast<f32>(static_cast<f64>(x) *
                          std::bit_cast<f64>(static_cast<u64>(clamped + 1023) << 52));
}
template <class T> KW_INLINE i32 exponentOf(T x) {
  return x == 0 || std::isinf(x) || isNan(x) ? 0 : std::ilogb(x) + 1;
}
template <class T> KW_INLINE T mantissaOf(T x) {
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
  const T nan = -std::numeric_limits<T>::quiet_NaN();
  const T infinity = std::numeric_limits<T>::infinity();
  T result = std::fabs(quotient);
  const bool dInf = std::isinf(d), nInf = std::isinf(n);
  if (rawExponent(n) - rawExponent(d) < -(sizeof(T) == 4 ? 150 : 1075)) {
    result = 0;
  }
  if (isNan(n) || isNan(d)) {
    return (isNan(n) ? n : d) + T(0); // made quiet
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

/// Which axis is largest: 0 x, 1 y, 2 z; of equal ones the later.
KW_INLINE int cubeAxis(f32 x, f32 y, f32 z) {
  const f32 a = std::fabs(x), b = std::fabs(y), c = std::fabs(z);
  return c >= a && c >= b ? 2 : b >= a ? 1 : 0;
}
KW_INLINE f32 cubeMajor(f32 x, f32 y, f32 z) {
  const int axis = cubeAxis(x, y, z);
  return axis == 2 ? z : axis == 1 ? y : x;
}
KW_INLINE f32 cubeFace(f32 x, f32 y, f32 z) {
  const int axis = cubeAxis(x, y, z);
  return static_cast<f32>(2 * axis + (cubeMajor(x, y, z) < 0 ? 1 : 0));
}
KW_INLINE f32 cubeS(f32 x, f32 y, f32 z) {
  const int axis = cubeAxis(x, y, z);
  const bool negative = cubeMajor(x, y, z) < 0;
  return axis == 2 ? (negative ? -x : x) : axis == 1 ? x : negative ? z : -z;
}
KW_INLINE f32 cubeT(f32 x, f32 y, f32 z) { return cubeAxis(x, y, z) != 1 ? -y : y < 0 ? -z : z; }

/// v_trig_preop_f64: 53 bits of 2/pi from bit 53 n on (and further for huge x), as a number.
f64 partOfTwoOverPi(f64 x, u32 n) {
  // 1216 bits of the fraction of 2/pi, from its first on. [computed]
  static constexpr u64 digits[] = {
      0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
      0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
      0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
      0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
      0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};
  const int exponent = static_cast<int>(std::bit_cast<u64>(x) >> 52 & 0x7ff);
  const int shift = static_cast<int>(n & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
  u64 bits = 0;
  for (int i = 0; i < 53; ++i) {
    const int at = shift + i;
    bits = bits << 1 | (at < 1201 ? digits[at / 64] >> (63 - at % 64) & 1 : 0);
  }
  return std::ldexp(static_cast<f64>(bits), -53 - shift + (exponent >= 1968 ? 128 : 0));
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
      {"V_MIN_F32", KW_BY_MODE(f32, minimum)},
      {"V_MAX_F32", KW_BY_MODE(f32, maximum)},
      {"V_MIN3_F32", KW_BY_MODE(f32, minimum3)},
      {"V_MAX3_F32", KW_BY_MODE(f32, maximum3)},
      {"V_MED3_F32", KW_BY_MODE(f32, median)},
      {"V_MINIMUM3_F32", KW_BY_MODE(f32, minimumOrNan3)},
      {"V_MAXIMUM3_F32", KW_BY_MODE(f32, maximumOrNan3)},
      {"V_LDEXP_F32", lanes<[](f32 a, i32 b) { return scaleByPower(a, b); }>},
      {"V_FREXP_EXP_I32_F32", lanes<[](f32 a) { return exponentOf(a); }>},
      {"V_FREXP_MANT_F32", lanes<[](f32 a) { return mantissaOf(a); }>},
      {"V_FLOOR_F32", lanes<[](f32 a) { return std::floor(a); }>},
      {"V_CEIL_F32", lanes<[](f32 a) { return std::ceil(a); }>},
      {"V_TRUNC_F32", lanes<[](f32 a) { return std::trunc(a); }>},
      {"V_RNDNE_F32", lanes<[](f32 a) { return __builtin_roundevenf(a); }>},
      {"V_FRACT_F32", lanes<[](f32 a) { return fraction(a); }>},
      // These flush denormals, whatever MODE says. [ISA]
      {"V_RCP_F32", lanes<[](f32 a) { return flushed(1.0f / flushed(a)); }>},
      {"V_RCP_IFLAG_F32", lanes<[](f32 a) { return flushed(1.0f / flushed(a)); }>},
      {"V_RSQ_F32", lanes<[](f32 a) { return flushed(reciprocalRoot(flushed(a))); }>},
      {"V_SQRT_F32", lanes<[](f32 a) { return flushed(std::sqrt(flushed(a))); }>},
      {"V_EXP_F32", lanes<[](f32 a) { return flushed(exp2Of(flushed(a))); }>},
      {"V_LOG_F32", lanes<[](f32 a) { return flushed(log2Of(flushed(a))); }>},
      {"V_EXP_LEGACY_F32", lanes<[](f32 a) { return flushed(exp2Of(flushed(a))); }>},
      {"V_LOG_LEGACY_F32", lanes<[](f32 a) { return flushed(log2Of(flushed(a))); }>},
      {"V_SIN_F32", lanes<[](f32 a) { return sineOfTurns(a); }>},
      {"V_COS_F32", lanes<[](f32 a) { return cosineOfTurns(a); }>},
      {"V_CUBEID_F32", lanes<[](f32 x, f32 y, f32 z) { return cubeFace(x, y, z); }>},
      {"V_CUBESC_F32", lanes<[](f32 x, f32 y, f32 z) { return cubeS(x, y, z); }>},
      {"V_CUBETC_F32", lanes<[](f32 x, f32 y, f32 z) { return cubeT(x, y, z); }>},
      {"V_CUBEMA_F32", lanes<[](f32 x, f32 y, f32 z) { return 2 * cubeMajor(x, y, z); }>},
      {"V_DIV_SCALE_F32", divScale<f32>},
      {"V_DIV_FMAS_F32", lanes<[](f32 a, f32 b, f32 c, Bit s) { return divFmas(a, b, c, s); }>},
      {"V_DIV_FIXUP_F32", lanes<[](f32 q, f32 d, f32 n) { return divFixup(q, d, n); }>},

      {"V_ADD_F64", doubles<[](f64 a, f64 b) { return a + b; }>},
      {"V_MUL_F64", doubles<[](f64 a, f64 b) { return a * b; }>},
      {"V_FMA_F64", doubles<[](f64 a, f64 b, f64 c) { return fusedMultiplyAdd(a, b, c); }>},
      {"V_FMAC_F64", doubles<[](f64 a, f64 b, f64 c) { return fusedMultiplyAdd(a, b, c); }>,
       Flow::accumulate},
      // Rounds as f64 does. [LLVM: mode of fptrunc]
      {"V_CVT_F32_F64", doubles<[](f64 a) { return static_cast<f32>(a); }>},
      {"V_MIN_F64", KW_BY_MODE(f64, minimum)},
      {"V_MAX_F64", KW_BY_MODE(f64, maximum)},
      {"V_RCP_F64", doubles<[](f64 a) { return 1.0 / a; }>},
      {"V_RSQ_F64", doubles<[](f64 a) { return 1.0 / std::sqrt(a); }>},
      {"V_SQRT_F64", doubles<[](f64 a) { return std::sqrt(a); }>},
      {"V_FLOOR_F64", doubles<[](f64 a) { return std::floor(a); }>},
      {"V_CEIL_F64", doubles<[](f64 a) { return std::ceil(a); }>},
      {"V_TRUNC_F64", doubles<[](f64 a) { return std::trunc(a); }>},
      {"V_RNDNE_F64", doubles<[](f64 a) { return __builtin_roundeven(a); }>},
      {"V_FRACT_F64", doubles<[](f64 a) { return fraction(a); }>},
      {"V_FREXP_EXP_I32_F64", doubles<[](f64 a) { return exponentOf(a); }>},
      {"V_FREXP_MANT_F64", doubles<[](f64 a) { return mantissaOf(a); }>},
      {"V_TRIG_PREOP_F64", lanes<[](f64 a, u32 b) { return partOfTwoOverPi(a, b); }>},
      {"V_LDEXP_F64", doubles<[](f64 a, i32 b) { return std::ldexp(a, b); }>},
      {"V_DIV_SCALE_F64", underDoubleMode<divScale<f64>>},
      {"V_DIV_FMAS_F64", doubles<[](f64 a, f64 b, f64 c, Bit s) { return divFmas(a, b, c, s); }>},
      {"V_DIV_FIXUP_F64", doubles<[](f64 q, f64 d, f64 n) { return divFixup(q, d, n); }>},

  };
  return rows;
}
#undef KW_BY_MODE

} // namespace kw::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kw::detail {
HWY_EXPORT(floatRows);
std::span<const Semantics> floatTable() { return HWY_DYNAMIC_DISPATCH(floatRows)(); }
} // namespace kw::detail
#endif
