// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between number formats. Float to integer saturates and turns NaN into 0.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/emulator/semantics/Convert.cpp"
// In this order: each line needs the one before.
#include "runtime/emulator/semantics/Targets.h"

#include <hwy/foreach_target.h>

#include "runtime/emulator/semantics/Lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kw::detail::HWY_NAMESPACE {

template <class I, class F> KW_INLINE I toInteger(F x) {
  constexpr I low = std::numeric_limits<I>::min(), high = std::numeric_limits<I>::max();
  const f64 exact = static_cast<f64>(x);
  const f64 inside = exact < static_cast<f64>(low)    ? static_cast<f64>(low)
                     : exact > static_cast<f64>(high) ? static_cast<f64>(high)
                                                      : exact;
  return isNan(x) ? 0 : static_cast<I>(static_cast<i64>(inside));
}

KW_INLINE u32 pair(u32 low, u32 high) { return (low & 0xffff) | high << 16; }
KW_INLINE u32 toUnorm(f32 x, f32 scale) {
  return static_cast<u32>(std::nearbyint(std::clamp(isNan(x) ? 0.0f : x, 0.0f, 1.0f) * scale));
}
KW_INLINE u32 toSnorm(f32 x, f32 scale) {
  return static_cast<u32>(
      static_cast<i32>(std::nearbyint(std::clamp(isNan(x) ? 0.0f : x, -1.0f, 1.0f) * scale)));
}

KW_INLINE f32 withSigns(f32 x, int mods) {
  x = mods & mod::abs ? std::fabs(x) : x;
  return mods & mod::neg ? -x : x;
}

KW_INLINE void putLane(u32 &to, int lane, u64 active, u32 x) { to = active >> lane & 1 ? x : to; }

/// v_cvt_pk_{fp8,bf8}_f32: into half op_sel (bit 3 of the first source's modifiers); the other half
/// of the register stays. Saturates (FP16_OVFL only chooses between NaN and the largest value).
template <const SmallFloat &format> void packSmall(Wave &wave, const Op &op) {
  u64 active = wave.exec();
  const bool saturates = wave.mode >> 23 & 1; // FP16_OVFL
  const bool high = op.source[0].mods & mod::opSelHi;
  const auto signs = [](const u32 *lanes, int l, int mods) {
    return withSigns(floatOf(lanes[l]), mods);
  };
  const u32 *a = fetchRaw(wave, op, 0), *b = fetchRaw(wave, op, 1);
  u32 *to = wave.vgpr[op.result[0].reg];
  for (int l = 0; l < laneCount; ++l) {
    const u32 both = toSmall(format, signs(a, l, op.source[0].mods), saturates) |
                     toSmall(format, signs(b, l, op.source[1].mods), saturates) << 8;
    const u32 result = high ? (to[l] & 0xffff) | both << 16 : (to[l] & 0xffff0000) | both;
    to[l] = active >> l & 1 ? result : to[l];
  }
}

/// v_cvt_pk_f32_{fp8,bf8}: two bytes (of the half that SDWA selects) to two registers.
template <const SmallFloat &format> void unpackSmall(Wave &wave, const Op &op) {
  u64 active = wave.exec();
  const u32 *a = fetchRaw(wave, op, 0);
  const bool high =
      (op.form == Form::sdwa && op.srcSel[0] == 5) || (op.source[0].mods & mod::opSel);
  for (int l = 0; l < laneCount; ++l) {
    const u32 both = high ? a[l] >> 16 : a[l];
    for (int word = 0; word < 2; ++word) {
      wave.computed[word][l] = bitsOf(fromSmall(format, both >> (8 * word) & 255));
    }
  }
  for (int word = 0; word < 2; ++word) {
    for (int l = 0; l < laneCount; ++l) {
      u32 &to = wave.vgpr[op.result[0].reg + word][l];
      to = active >> l & 1 ? wave.computed[word][l] : to;
    }
  }
}

/// Of the scale only the exponent counts, as if it were an E8M0 byte.
KW_INLINE f32 scaleOf(u32 bits) { return fromE8m0(bits >> 23 & 255); }

/// Element i of a register of type T (Half, Bfloat), or of register i of a tuple (f32).
template <class T> KW_INLINE f32 elementAt(const u32 *const source[2], int l, int i) {
  if constexpr (std::is_same_v<T, f32>) {
    return floatOf(source[i][l]);
  } else {
    return value(T{static_cast<u16>(source[0][l] >> (16 * i))});
  }
}
template <class T> KW_INLINE u32 halfBits(f32 x) {
  return std::is_same_v<T, Half> ? toHalfBits(x) : toBfloatBits(x);
}

/// v_cvt_scalef32_pk_{fp8,bf8,fp4}_{f32,f16,bf16}: two elements over the scale, rounded, into the
/// 16 (fp4: 8) bits that op_sel names; the rest of the register stays.
template <const SmallFloat &format, class T> void packScaled(Wave &wave, const Op &op) {
  constexpr bool wide = std::is_same_v<T, f32>;
  constexpr int width = format.bits();
  const u64 active = wave.exec();
  const bool saturates = width < 8 || (wave.mode >> 23 & 1);
  const int top = op.source[0].mods & mod::opSelHi ? 1 : 0;
  const int low = op.source[2].mods & mod::opSel ? 1 : 0;
  const int shift = width == 8 ? 16 * top : 8 * (2 * top + low);
  const u32 mask = ((1u << 2 * width) - 1) << shift;
  const u32 *const source[2] = {fetchRaw(wave, op, 0), fetchRaw(wave, op, 1)};
  const u32 *scale = fetchRaw(wave, op, wide ? 2 : 1);
  const int mods[2] = {op.source[0].mods, op.source[wide ? 1 : 0].mods};
  u32 *to = wave.vgpr[op.result[0].reg];
  for (int l = 0; l < laneCount; ++l) {
    u32 both = 0;
    for (int i = 0; i < 2; ++i) {
      const f32 x = withSigns(elementAt<T>(source, l, i), mods[i]) / scaleOf(scale[l]);
      both |= toSmall(format, x, saturates) << (i * width);
    }
    putLane(to[l], l, active, (to[l] & ~mask) | both << shift);
  }
}

/// v_cvt_scalef32_pk_{f32,f16,bf16}_{fp8,bf8,fp4}: the two elements that op_sel names, scaled.
template <const SmallFloat &format, class T> void unpackScaled(Wave &wave, const Op &op) {
  constexpr int width = format.bits();
  const u64 active = wave.exec();
  const int low = op.source[0].mods & mod::opSel ? 1 : 0;
  const int top = op.source[1].mods & mod::opSel ? 1 : 0;
  const int shift = width == 8 ? 16 * low : 8 * (2 * top + low);
  const u32 *source = fetchRaw(wave, op, 0), *scale = fetchRaw(wave, op, 1);
  for (int l = 0; l < laneCount; ++l) {
    f32 x[2];
    for (int i = 0; i < 2; ++i) {
      const u32 code = source[l] >> (shift + i * width) & ((1u << width) - 1);
      x[i] = fromSmall(format, code) * scaleOf(scale[l]);
    }
    if constexpr (std::is_same_v<T, f32>) {
      wave.computed[0][l] = bitsOf(x[0]);
      wave.computed[1][l] = bitsOf(x[1]);
    } else {
      wave.computed[0][l] = pair(halfBits<T>(x[0]), halfBits<T>(x[1]));
    }
  }
  for (int word = 0; word < op.result[0].words; ++word) {
    for (int l = 0; l < laneCount; ++l) {
      putLane(wave.vgpr[op.result[0].reg + word][l], l, active, wave.computed[word][l]);
    }
  }
}

/// v_cvt_scalef32_{f32,f16}_{fp8,bf8}: one byte; f16 goes to the half that op_sel names.
template <const SmallFloat &format, class T> void unpackOneScaled(Wave &wave, const Op &op) {
  const u64 active = wave.exec();
  const int byte =
      (op.source[0].mods & mod::opSel ? 1 : 0) + (op.source[1].mods & mod::opSel ? 2 : 0);
  const bool high = op.source[0].mods & mod::opSelHi;
  const u32 *source = fetchRaw(wave, op, 0), *scale = fetchRaw(wave, op, 1);
  u32 *to = wave.vgpr[op.result[0].reg];
  for (int l = 0; l < laneCount; ++l) {
    const f32 x = fromSmall(format, source[l] >> (8 * byte) & 255) * scaleOf(scale[l]);
    u32 result = bitsOf(x);
    if constexpr (std::is_same_v<T, Half>) {
      result = high ? pair(to[l], toHalfBits(x)) : pair(toHalfBits(x), to[l] >> 16);
    }
    putLane(to[l], l, active, result);
  }
}

// The three wide types that a small format converts to and from.
#define KW_SCALED_PAIRS(NAME, FORMAT)                                                              \
  {"V_CVT_SCALEF32_PK_" NAME "_F32", packScaled<FORMAT, f32>, Flow::accumulate},                   \
      {"V_CVT_SCALEF32_PK_" NAME "_F16", packScaled<FORMAT, Half>, Flow::accumulate},              \
      {"V_CVT_SCALEF32_PK_" NAME "_BF16", packScaled<FORMAT, Bfloat>, Flow::accumulate},           \
      {"V_CVT_SCALEF32_PK_F32_" NAME, unpackScaled<FORMAT, f32>},                                  \
      {"V_CVT_SCALEF32_PK_F16_" NAME, unpackScaled<FORMAT, Half>}, {                               \
    "V_CVT_SCALEF32_PK_BF16_" NAME, unpackScaled<FORMAT, Bfloat>                                   \
  }

/// v_cvt_f32_ubyte{0..3}
template <int i> KW_INLINE f32 byteToFloat(u32 a) { return static_cast<f32>(a >> (8 * i) & 255); }

std::span<const Semantics> convertRows() {
  static const Semantics rows[] = {
      {"V_CVT_F32_U32", lanes<[](u32 a) { return static_cast<f32>(a); }>},
      {"V_CVT_F32_I32", lanes<[](i32 a) { return static_cast<f32>(a); }>},
      {"V_CVT_U32_F32", lanes<[](f32 a) { return toInteger<u32>(a); }>},
      {"V_CVT_I32_F32", lanes<[](f32 a) { return toInteger<i32>(a); }>},
      {"V_CVT_RPI_I32_F32", lanes<[](f32 a) { return toInteger<i32>(std::floor(a + 0.5f)); }>},
      {"V_CVT_FLR_I32_F32", lanes<[](f32 a) { return toInteger<i32>(std::floor(a)); }>},
      {"V_CVT_F32_UBYTE0", lanes<[](u32 a) { return byteToFloat<0>(a); }>},
      {"V_CVT_F32_UBYTE1", lanes<[](u32 a) { return byteToFloat<1>(a); }>},
      {"V_CVT_F32_UBYTE2", lanes<[](u32 a) { return byteToFloat<2>(a); }>},
      {"V_CVT_F32_UBYTE3", lanes<[](u32 a) { return byteToFloat<3>(a); }>},
      {"V_CVT_F64_F32", lanes<[](f32 a) { return static_cast<f64>(a); }>},
      {"V_CVT_F32_F64", lanes<[](f64 a) { return static_cast<f32>(a); }>},
      {"V_CVT_F64_I32", lanes<[](i32 a) { return static_cast<f64>(a); }>},
      {"V_CVT_F64_U32", lanes<[](u32 a) { return static_cast<f64>(a); }>},
      {"V_CVT_I32_F64", lanes<[](f64 a) { return toInteger<i32>(a); }>},
      {"V_CVT_U32_F64", lanes<[](f64 a) { return toInteger<u32>(a); }>},
      {"V_CVT_F32_F16", lanes<[](Half a) { return value(a); }>},
      {"V_CVT_F16_F32", lanes<[](f32 a) { return toHalf(a); }>},
      {"V_CVT_F32_BF16", lanes<[](Bfloat a) { return value(a); }>},
      {"V_CVT_F16_U16", lanes<[](u16 a) { return toHalf(static_cast<f32>(a)); }>},
      {"V_CVT_F16_I16", lanes<[](i16 a) { return toHalf(static_cast<f32>(a)); }>},
      {"V_CVT_U16_F16",
       lanes<[](Half a) { return static_cast<u16>(std::min(toInteger<u32>(value(a)), 65535u)); }>},
      {"V_CVT_I16_F16", lanes<[](Half a) {
         return static_cast<i16>(std::clamp(toInteger<i32>(value(a)), -32768, 32767));
       }>},
      {"V_CVT_PKRTZ_F16_F32",
       lanes<[](f32 a, f32 b) { return pair(toHalfBits(a, true), toHalfBits(b, true)); }>},
      {"V_CVT_PK_F16_F32", lanes<[](f32 a, f32 b) { return pair(toHalfBits(a), toHalfBits(b)); }>},
      {"V_CVT_PK_BF16_F32",
       lanes<[](f32 a, f32 b) { return pair(toBfloatBits(a), toBfloatBits(b)); }>},
      {"V_CVT_PK_U16_U32",
       lanes<[](u32 a, u32 b) { return pair(std::min(a, 65535u), std::min(b, 65535u)); }>},
      {"V_CVT_PK_I16_I32", lanes<[](i32 a, i32 b) {
         return pair(static_cast<u32>(std::clamp(a, -32768, 32767)),
                     static_cast<u32>(std::clamp(b, -32768, 32767)));
       }>},
      {"V_CVT_PKNORM_U16_F32",
       lanes<[](f32 a, f32 b) { return pair(toUnorm(a, 65535.0f), toUnorm(b, 65535.0f)); }>},
      {"V_CVT_PKNORM_I16_F32",
       lanes<[](f32 a, f32 b) { return pair(toSnorm(a, 32767.0f), toSnorm(b, 32767.0f)); }>},
      {"V_CVT_F32_FP8", lanes<[](u32 a) { return fromSmall(e4m3, a & 255); }>},
      {"V_CVT_F32_BF8", lanes<[](u32 a) { return fromSmall(e5m2, a & 255); }>},
      {"V_CVT_PK_F32_FP8", unpackSmall<e4m3>},
      {"V_CVT_PK_F32_BF8", unpackSmall<e5m2>},
      {"V_CVT_PK_FP8_F32", packSmall<e4m3>, Flow::accumulate},
      {"V_CVT_PK_BF8_F32", packSmall<e5m2>, Flow::accumulate},
      KW_SCALED_PAIRS("FP8", e4m3),
      KW_SCALED_PAIRS("BF8", e5m2),
      KW_SCALED_PAIRS("FP4", e2m1),
      {"V_CVT_SCALEF32_F32_FP8", unpackOneScaled<e4m3, f32>},
      {"V_CVT_SCALEF32_F32_BF8", unpackOneScaled<e5m2, f32>},
      {"V_CVT_SCALEF32_F16_FP8", unpackOneScaled<e4m3, Half>, Flow::accumulate},
      {"V_CVT_SCALEF32_F16_BF8", unpackOneScaled<e5m2, Half>, Flow::accumulate},
  };
  return rows;
}
#undef KW_SCALED_PAIRS

} // namespace kw::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kw::detail {
HWY_EXPORT(convertRows);
std::span<const Semantics> convertTable() { return HWY_DYNAMIC_DISPATCH(convertRows)(); }
} // namespace kw::detail
#endif
