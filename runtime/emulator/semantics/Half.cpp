// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f16 in VOP1, VOP2, VOP3 and VOP3P. Each row has two meanings of the same operation: the fast one,
// in f32 and rounded once more, which is exact for + - * (24 >= 2 * 11 + 2 bits), is taken under
// the usual MODE; the other is in f64 and rounds, flushes and saturates as MODE says (HalfMode.h).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/emulator/semantics/Half.cpp"
// In this order: each line needs the one before.
#include "runtime/emulator/semantics/Targets.h"

#include <hwy/foreach_target.h>

#include "runtime/emulator/semantics/Extremes.h"
#include "runtime/emulator/semantics/HalfMode.h"
#include "runtime/emulator/semantics/Lanes-inl.h"
#include "runtime/emulator/semantics/Transcendental-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kw::detail::HWY_NAMESPACE {

using kw::detail::fusedMultiplyAdd; // of Half

template <class A> using Stored = std::conditional_t<std::is_same_v<A, f64>, Half, A>;
/// An argument of the slow meaning: f64 stands for a half.
template <class A> KW_INLINE A slowArgument(const HalfMode &mode, Stored<A> x) {
  if constexpr (std::is_same_v<A, f64>) {
    return mode.valueOf(x.bits);
  } else {
    return x;
  }
}

template <auto Slow, class... A, std::size_t... I>
void runByMode(Wave &wave, const Op &op, f64 (*)(A...), std::index_sequence<I...>) {
  const HalfMode mode(wave.mode);
  const HostFloatMode host(doubleMode(wave.mode) | 0x30);
  u64 active = wave.exec();
  const u32 *const source[] = {fetch<Stored<A>>(wave, op, I, active)...};
  for (int l = 0; l < laneCount; ++l) {
    wave.computed[0][l] =
        mode.round(Slow(slowArgument<A>(mode, loadLane<Stored<A>>(source[I], l))...));
  }
  finish<Half>(wave, op, active);
}

template <auto Fast, auto Slow> void halves(Wave &wave, const Op &op) {
  if (HalfMode::isPlain(wave.mode)) [[likely]] {
    lanes<Fast>(wave, op);
    return;
  }
  [&]<class... A>(f64 (*function)(A...)) {
    runByMode<Slow>(wave, op, function, std::index_sequence_for<A...>());
  }(+Slow);
}

/// One meaning for both: a value that needs one rounding to f16.
template <auto Function> void halfOf(Wave &wave, const Op &op) {
  halves<[](Half a) { return toHalf(static_cast<f32>(Function(value(a)))); },
         [](f64 a) { return static_cast<f64>(Function(static_cast<f32>(a))); }>(wave, op);
}

/// Min, max and median: bits, chosen by MODE.
template <bool ieee, bool flush> struct HalfExtremes : Extremes<ieee, flush> {
  using E = Extremes<ieee, flush>;
  static void minimum(Wave &w, const Op &op) {
    lanes<[](Half a, Half b) { return E::minimum(a, b); }>(w, op);
  }
  static void maximum(Wave &w, const Op &op) {
    lanes<[](Half a, Half b) { return E::maximum(a, b); }>(w, op);
  }
  static void minimum3(Wave &w, const Op &op) {
    lanes<[](Half a, Half b, Half c) { return E::minimum3(a, b, c); }>(w, op);
  }
  static void maximum3(Wave &w, const Op &op) {
    lanes<[](Half a, Half b, Half c) { return E::maximum3(a, b, c); }>(w, op);
  }
  static void median(Wave &w, const Op &op) {
    lanes<[](Half a, Half b, Half c) { return E::median(a, b, c); }>(w, op);
  }
};
#define KW_BY_MODE(NAME)                                                                           \
  +[](Wave &wave, const Op &op) {                                                                  \
    const bool ieee = wave.mode >> modeBit::ieee & 1;                                              \
    const bool keeps = keepsDenormals(doubleMode(wave.mode));                                      \
    ieee ? (keeps ? HalfExtremes<true, false>::NAME : HalfExtremes<true, true>::NAME)(wave, op)    \
         : (keeps ? HalfExtremes<false, false>::NAME : HalfExtremes<false, true>::NAME)(wave, op); \
  }

KW_INLINE f32 fractionOf(f32 x) { return std::min(x - std::floor(x), 0x1.ffcp-1f); }
KW_INLINE i16 halfExponent(Half a) {
  const f32 x = value(a);
  return x == 0 || std::isinf(x) || isNan(x) ? i16{0} : static_cast<i16>(std::ilogb(x) + 1);
}
KW_INLINE f32 halfMantissa(f32 x) {
  int exponent = 0;
  return x == 0 || std::isinf(x) || isNan(x) ? x : std::frexp(x, &exponent);
}
KW_INLINE f64 scaledBy(f64 x, i16 n) { return std::ldexp(x, std::clamp<int>(n, -400, 400)); }

template <class T> KW_INLINE T halfDivFixup(T quotient, T d, T n) {
  const T nan = -std::numeric_limits<T>::quiet_NaN();
  const T infinity = std::numeric_limits<T>::infinity();
  const bool negative = std::signbit(d) != std::signbit(n);
  const bool dInf = std::isinf(d), nInf = std::isinf(n);
  if (n != n || d != d) {
    return n != n ? n : d;
  }
  if ((d == 0 && n == 0) || (dInf && nInf)) {
    return nan;
  }
  const T result = d == 0 || nInf ? infinity : dInf || n == 0 ? T(0) : std::fabs(quotient);
  return negative ? -result : result;
}

#define KW_FMA_F16                                                                                 \
  halves<[](Half a, Half b, Half c) { return fusedMultiplyAdd(a, b, c); },                         \
         [](f64 a, f64 b, f64 c) { return a * b + c; }>
#define KW_FIXUP_F16                                                                               \
  halves<[](Half q, Half d, Half n) {                                                              \
    return toHalf(halfDivFixup(value(q), value(d), value(n)));                                     \
  },                                                                                               \
         [](f64 q, f64 d, f64 n) { return halfDivFixup(q, d, n); }>

/// v_mad, v_mac: the product rounds on its own. Rare: compilers fuse.
void multiplyThenAdd(Wave &wave, const Op &op) {
  const HalfMode mode(wave.mode);
  const HostFloatMode host(doubleMode(wave.mode) | 0x30);
  u64 active = wave.exec();
  const u32 *a = fetch<Half>(wave, op, 0, active), *b = fetch<Half>(wave, op, 1, active),
            *c = fetch<Half>(wave, op, 2, active);
  const auto valueAt = [&](const u32 *lanes, int l) {
    return mode.valueOf(static_cast<u16>(lanes[l]));
  };
  for (int l = 0; l < laneCount; ++l) {
    const u32 product = mode.round(valueAt(a, l) * valueAt(b, l));
    wave.computed[0][l] = mode.round(mode.valueOf(static_cast<u16>(product)) + valueAt(c, l));
  }
  finish<Half>(wave, op, active);
}

// ---- VOP3P
// ---------------------------------------------------------------------------------------------

/// The half that the low (word 0) or high result reads, with its sign.
KW_INLINE Half pickHalf(u32 x, int mods, int word) {
  const bool high = word == 0 ? mods & mod::opSel : mods & mod::opSelHi;
  const u32 sign = (mods & (word == 0 ? mod::neg : mod::negHi)) ? 0x8000 : 0;
  return {static_cast<u16>((high ? x >> 16 : x & 0xffff) ^ sign)};
}
KW_INLINE u32 clampedHalf(u32 bits, bool clamp) {
  const f32 v = fromHalf(bits);
  return !clamp ? bits : v > 0 ? (v < 1 ? bits : 0x3c00) : 0;
}

template <class Each, std::size_t... I>
void runPackedHalves(Wave &wave, const Op &op, Each each, std::index_sequence<I...>) {
  const u64 active = wave.exec();
  const u32 *const source[] = {fetchRaw(wave, op, I)...};
  const int mods[] = {op.source[I].mods...};
  for (int l = 0; l < laneCount; ++l) {
    const u32 low = each(pickHalf(source[I][l], mods[I], 0)...);
    const u32 high = each(pickHalf(source[I][l], mods[I], 1)...);
    wave.computed[0][l] = clampedHalf(low, op.clamp) | clampedHalf(high, op.clamp) << 16;
  }
  for (int l = 0; l < laneCount; ++l) {
    u32 &to = wave.vgpr[op.result[0].reg][l];
    to = active >> l & 1 ? wave.computed[0][l] : to;
  }
}

template <auto Fast, class... A> void packedFast(Wave &wave, const Op &op, Half (*)(A...)) {
  runPackedHalves(
      wave, op, [](A... a) -> u32 { return Fast(a...).bits; }, std::index_sequence_for<A...>());
}
template <auto Slow, class... A> void packedByMode(Wave &wave, const Op &op, f64 (*)(A...)) {
  const HalfMode mode(wave.mode);
  const HostFloatMode host(doubleMode(wave.mode) | 0x30);
  runPackedHalves(
      wave, op, [&](Stored<A>... a) { return mode.round(Slow(mode.valueOf(a.bits)...)); },
      std::index_sequence_for<A...>());
}
template <auto Fast, auto Slow> void packedHalves(Wave &wave, const Op &op) {
  HalfMode::isPlain(wave.mode) ? packedFast<Fast>(wave, op, +Fast)
                               : packedByMode<Slow>(wave, op, +Slow);
}
template <auto F> void packedBits(Wave &wave, const Op &op) { packedFast<F>(wave, op, +F); }

/// v_pk_fmac_f16: halves as they lie.
void packedFmac(Wave &wave, const Op &op) {
  const HalfMode mode(wave.mode);
  const HostFloatMode host(doubleMode(wave.mode) | 0x30);
  const u64 active = wave.exec();
  const u32 *a = fetchRaw(wave, op, 0), *b = fetchRaw(wave, op, 1);
  u32 *to = wave.vgpr[op.result[0].reg];
  for (int l = 0; l < laneCount; ++l) {
    u32 result = 0;
    for (int shift = 0; shift < 32; shift += 16) {
      const auto half = [&](u32 x) { return mode.valueOf(static_cast<u16>(x >> shift)); };
      result |= mode.round(half(a[l]) * half(b[l]) + half(to[l])) << shift;
    }
    to[l] = active >> l & 1 ? result : to[l];
  }
}

/// v_pk_min, v_pk_max and their three-operand forms.
template <bool ieee, bool flush> struct PackedExtremes {
  using E = Extremes<ieee, flush>;
  static void minimum(Wave &w, const Op &op) {
    packedBits<[](Half a, Half b) { return E::minimum(a, b); }>(w, op);
  }
  static void maximum(Wave &w, const Op &op) {
    packedBits<[](Half a, Half b) { return E::maximum(a, b); }>(w, op);
  }
  static void minimumOrNan3(Wave &w, const Op &op) {
    packedBits<[](Half a, Half b, Half c) { return E::minimumOrNan3(a, b, c); }>(w, op);
  }
  static void maximumOrNan3(Wave &w, const Op &op) {
    packedBits<[](Half a, Half b, Half c) { return E::maximumOrNan3(a, b, c); }>(w, op);
  }
};
#define KW_PACKED_BY_MODE(NAME)                                                                    \
  +[](Wave &wave, const Op &op) {                                                                  \
    const bool ieee = wave.mode >> modeBit::ieee & 1;                                              \
    const bool keeps = keepsDenormals(doubleMode(wave.mode));                                      \
    ieee                                                                                           \
        ? (keeps ? PackedExtremes<true, false>::NAME : PackedExtremes<true, true>::NAME)(wave, op) \
        : (keeps ? PackedExtremes<false, false>::NAME : PackedExtremes<false, true>::NAME)(wave,   \
                                                                                           op);    \
  }

/// v_fma_mix*: op_sel_hi says that the source is f16, op_sel which half; neg_hi means abs.
KW_INLINE f32 mixSource(u32 x, int mods, const HalfMode &mode) {
  const u16 half = static_cast<u16>(mods & mod::opSel ? x >> 16 : x);
  f32 v = mods & mod::opSelHi ? static_cast<f32>(mode.valueOf(half)) : floatOf(x);
  v = mods & mod::negHi ? std::fabs(v) : v;
  return mods & mod::neg ? -v : v;
}
/// The f16 forms round twice: the f32 result by the f32 mode, then by that of f16.
template <int where> void fmaMix(Wave &wave, const Op &op) { // -1: f32, 0: low half, 1: high half
  const u64 active = wave.exec();
  const HalfMode mode(wave.mode);
  const u32 *a = fetchRaw(wave, op, 0), *b = fetchRaw(wave, op, 1), *c = fetchRaw(wave, op, 2);
  u32 *to = wave.vgpr[op.result[0].reg];
  for (int l = 0; l < laneCount; ++l) {
    const f32 x = __builtin_fmaf(mixSource(a[l], op.source[0].mods, mode),
                                 mixSource(b[l], op.source[1].mods, mode),
                                 mixSource(c[l], op.source[2].mods, mode));
    wave.computed[0][l] = bitsOf(op.clamp ? (x > 0 ? (x < 1 ? x : 1.0f) : 0.0f) : x);
  }
  std::optional<HostFloatMode> host;
  if (where >= 0 && !HalfMode::isPlain(wave.mode)) {
    host.emplace(doubleMode(wave.mode) | 0x30);
  }
  for (int l = 0; l < laneCount; ++l) {
    const f32 x = floatOf(wave.computed[0][l]);
    const u32 half = where < 0 ? 0 : host ? mode.round(x) : toHalfBits(x);
    const u32 result = where < 0    ? bitsOf(x)
                       : where == 0 ? (to[l] & 0xffff0000) | half
                                    : (to[l] & 0xffff) | half << 16;
    to[l] = active >> l & 1 ? result : to[l];
  }
}

/// v_cvt_f16_f32: the source by the f32 mode, the result by that of f16.
void convertToHalf(Wave &wave, const Op &op) {
  if (HalfMode::isPlain(wave.mode)) [[likely]] {
    lanes<[](f32 a) { return toHalf(a); }>(wave, op);
    return;
  }
  const HalfMode mode(wave.mode);
  const HostFloatMode host(doubleMode(wave.mode) | 0x30);
  const bool keeps = wave.mode >> 4 & 1;
  u64 active = wave.exec();
  const u32 *source = fetch<f32>(wave, op, 0, active);
  for (int l = 0; l < laneCount; ++l) {
    const f32 x = floatOf(source[l]);
    wave.computed[0][l] = mode.round(keeps ? x : flushed(x));
  }
  finish<Half>(wave, op, active);
}
template <class I> void integerToHalf(Wave &wave, const Op &op) {
  halves<[](I a) { return toHalf(static_cast<f32>(a)); }, [](I a) { return static_cast<f64>(a); }>(
      wave, op);
}
/// v_cvt_f32_f16: exact but for denormals, which both modes may flush.
void convertFromHalf(Wave &wave, const Op &op) {
  if (wave.mode >> 6 & 1) [[likely]] {
    lanes<[](Half a) { return value(a); }>(wave, op);
  } else {
    lanes<[](Half a) { return fromHalf((a.bits & 0x7c00) == 0 ? a.bits & 0x8000u : a.bits); }>(wave,
                                                                                               op);
  }
}

std::span<const Semantics> halfRows() {
  static const Semantics rows[] = {
      {"V_ADD_F16", halves<[](Half a, Half b) { return toHalf(value(a) + value(b)); },
                           [](f64 a, f64 b) { return a + b; }>},
      {"V_SUB_F16", halves<[](Half a, Half b) { return toHalf(value(a) - value(b)); },
                           [](f64 a, f64 b) { return a - b; }>},
      {"V_SUBREV_F16", halves<[](Half a, Half b) { return toHalf(value(b) - value(a)); },
                              [](f64 a, f64 b) { return b - a; }>},
      {"V_MUL_F16", halves<[](Half a, Half b) { return toHalf(value(a) * value(b)); },
                           [](f64 a, f64 b) { return a * b; }>},
      {"V_FMA_F16", KW_FMA_F16},
      {"V_FMA_LEGACY_F16", KW_FMA_F16},
      {"V_FMAC_F16", KW_FMA_F16, Flow::accumulate},
      {"V_MAD_F16", multiplyThenAdd},
      {"V_MAD_LEGACY_F16", multiplyThenAdd},
      {"V_MAC_F16", multiplyThenAdd, Flow::accumulate},
      {"V_MADMK_F16", multiplyThenAdd},
      {"V_MADAK_F16", multiplyThenAdd},
      {"V_MIN_F16", KW_BY_MODE(minimum)},
      {"V_MAX_F16", KW_BY_MODE(maximum)},
      {"V_MIN3_F16", KW_BY_MODE(minimum3)},
      {"V_MAX3_F16", KW_BY_MODE(maximum3)},
      {"V_MED3_F16", KW_BY_MODE(median)},
      {"V_RCP_F16", halfOf<[](f32 a) { return 1.0f / a; }>},
      {"V_RSQ_F16", halfOf<[](f32 a) { return 1.0 / std::sqrt(static_cast<f64>(a)); }>},
      {"V_SQRT_F16", halfOf<[](f32 a) { return std::sqrt(a); }>},
      {"V_EXP_F16", halfOf<[](f32 a) { return exp2Of(a); }>},
      {"V_LOG_F16", halfOf<[](f32 a) { return log2Of(a); }>},
      {"V_SIN_F16", halfOf<[](f32 a) { return sineOfTurns(a); }>},
      {"V_COS_F16", halfOf<[](f32 a) { return cosineOfTurns(a); }>},
      {"V_FLOOR_F16", halfOf<[](f32 a) { return std::floor(a); }>},
      {"V_CEIL_F16", halfOf<[](f32 a) { return std::ceil(a); }>},
      {"V_TRUNC_F16", halfOf<[](f32 a) { return std::trunc(a); }>},
      {"V_RNDNE_F16", halfOf<[](f32 a) { return __builtin_roundevenf(a); }>},
      {"V_FRACT_F16", halfOf<[](f32 a) { return fractionOf(a); }>},
      {"V_FREXP_MANT_F16", halfOf<[](f32 a) { return halfMantissa(a); }>},
      {"V_FREXP_EXP_I16_F16", lanes<[](Half a) { return halfExponent(a); }>},
      {"V_LDEXP_F16",
       halves<[](Half a, i16 b) { return toHalf(static_cast<f32>(scaledBy(value(a), b))); },
              [](f64 a, i16 b) { return scaledBy(a, b); }>},
      {"V_DIV_FIXUP_F16", KW_FIXUP_F16},
      {"V_DIV_FIXUP_LEGACY_F16", KW_FIXUP_F16},
      {"V_CVT_F16_F32", convertToHalf},
      {"V_CVT_F32_F16", convertFromHalf},
      {"V_CVT_F16_U16", integerToHalf<u16>},
      {"V_CVT_F16_I16", integerToHalf<i16>},

      {"V_PK_ADD_F16", packedHalves<[](Half a, Half b) { return toHalf(value(a) + value(b)); },
                                    [](f64 a, f64 b) { return a + b; }>},
      {"V_PK_MUL_F16", packedHalves<[](Half a, Half b) { return toHalf(value(a) * value(b)); },
                                    [](f64 a, f64 b) { return a * b; }>},
      {"V_PK_FMA_F16",
       packedHalves<[](Half a, Half b, Half c) { return fusedMultiplyAdd(a, b, c); },
                    [](f64 a, f64 b, f64 c) { return a * b + c; }>},
      {"V_PK_FMAC_F16", packedFmac, Flow::accumulate},
      {"V_PK_MIN_F16", KW_PACKED_BY_MODE(minimum)},
      {"V_PK_MAX_F16", KW_PACKED_BY_MODE(maximum)},
      {"V_PK_MINIMUM3_F16", KW_PACKED_BY_MODE(minimumOrNan3)},
      {"V_PK_MAXIMUM3_F16", KW_PACKED_BY_MODE(maximumOrNan3)},
      {"V_FMA_MIX_F32", fmaMix<-1>},
      {"V_FMA_MIXLO_F16", fmaMix<0>},
      {"V_FMA_MIXHI_F16", fmaMix<1>},
  };
  return rows;
}
#undef KW_BY_MODE
#undef KW_PACKED_BY_MODE
#undef KW_FMA_F16
#undef KW_FIXUP_F16

} // namespace kw::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kw::detail {
HWY_EXPORT(halfRows);
std::span<const Semantics> halfTable() { return HWY_DYNAMIC_DISPATCH(halfRows)(); }
} // namespace kw::detail
#endif
