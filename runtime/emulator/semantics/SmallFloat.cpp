// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions to and from floats of 8, 6 and 4 bits (OCP), plain and over a scale, to nearest even
// or stochastically; stochastic rounding to f16 and bf16. MODE's rounding does not count.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/emulator/semantics/SmallFloat.cpp"
// In this order: each line needs the one before.
#include "runtime/emulator/semantics/Targets.h"

#include <hwy/foreach_target.h>

#include "runtime/emulator/FloatMode.h"
#include "runtime/emulator/semantics/Lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kw::detail::HWY_NAMESPACE {

KW_INLINE u32 pair(u32 low, u32 high) { return (low & 0xffff) | high << 16; }
KW_INLINE f32 withSigns(f32 x, int mods) {
  x = mods & mod::abs ? std::fabs(x) : x;
  return mods & mod::neg ? -x : x;
}

KW_INLINE void putLane(u32 &to, int lane, u64 active, u32 x) { to = active >> lane & 1 ? x : to; }

/// v_cvt_pk_{fp8,bf8}_f32: into half op_sel (bit 3 of the first source's modifiers); the other half
/// of the register stays. Saturates (FP16_OVFL only chooses between NaN and the largest value).
template <const SmallFloat &format> void packSmall(Wave &wave, const Op &op) {
  u64 active = wave.exec();
  const bool saturates = wave.mode >> modeBit::halfOverflow & 1;
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
  const bool saturates = width < 8 || (wave.mode >> modeBit::halfOverflow & 1);
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

/// Element i of one or several registers.
template <class T> KW_INLINE f32 listedElement(const u32 *from, int l, int i) {
  if constexpr (std::is_same_v<T, f32>) {
    return floatOf(from[i * laneCount + l]);
  } else {
    return value(T{static_cast<u16>(from[i / 2 * laneCount + l] >> (16 * (i % 2)))});
  }
}
/// 32 elements of `bits` bits, packed.
KW_INLINE void putPacked(u32 *words, int i, int bits, u32 code) {
  const int at = i * bits, word = at / 32, shift = at % 32;
  words[word] |= code << shift;
  if (shift + bits > 32) {
    words[word + 1] |= code >> (32 - shift);
  }
}
KW_INLINE u32 takePacked(const u32 *words, int i, int bits) {
  const int at = i * bits, word = at / 32, shift = at % 32;
  const u64 window =
      words[word] | (shift + bits > 32 ? static_cast<u64>(words[word + 1]) << 32 : 0);
  return static_cast<u32>(window >> shift) & ((1u << bits) - 1);
}

enum class Rounding { nearest, stochastic };
constexpr int listLength = 32;

/// v_cvt_scalef32_pk32_{fp6,bf6}_{f16,bf16}, 2xpk16_{fp6,bf6}_f32 (whose two sources take turns)
/// and their stochastic forms, which take 32 f32 from one source: 32 elements over the scale.
template <const SmallFloat &format, class T, Rounding rounding>
void packList(Wave &wave, const Op &op) {
  constexpr bool stochastic = rounding == Rounding::stochastic;
  constexpr bool twoSources = std::is_same_v<T, f32> && !stochastic;
  constexpr int bits = format.bits(), words = listLength * bits / 32;
  const u64 active = wave.exec();
  const u32 *a = fetchRaw(wave, op, 0), *b = fetchRaw(wave, op, 1);
  const u32 *scale = stochastic || twoSources ? fetchRaw(wave, op, 2) : b;
  u32 out[laneCount][words] = {};
  for (int l = 0; l < laneCount; ++l) {
    u32 random = stochastic ? b[l] : 0;
    for (int i = 0; i < listLength; ++i) {
      const f32 x =
          twoSources ? listedElement<T>(i % 2 == 0 ? a : b, l, i / 2) : listedElement<T>(a, l, i);
      const f32 scaled = x / scaleOf(scale[l]);
      putPacked(out[l], i, bits,
                stochastic ? toSmallStochastic(format, scaled, random, true)
                           : toSmall(format, scaled, true));
      random = nextRandom(random);
    }
  }
  for (int word = 0; word < words; ++word) {
    for (int l = 0; l < laneCount; ++l) {
      putLane(wave.vgpr[op.result[0].reg + word][l], l, active, out[l][word]);
    }
  }
}

/// v_cvt_scalef32_pk32_{f32,f16,bf16}_{fp6,bf6}: 32 elements, scaled.
template <const SmallFloat &format, class T> void unpackList(Wave &wave, const Op &op) {
  constexpr bool wide = std::is_same_v<T, f32>;
  constexpr int bits = format.bits();
  const u64 active = wave.exec();
  const u32 *a = fetchRaw(wave, op, 0), *scale = fetchRaw(wave, op, 1);
  u32 out[laneCount][listLength] = {};
  for (int l = 0; l < laneCount; ++l) {
    u32 packed[listLength * bits / 32];
    for (std::size_t word = 0; word < std::size(packed); ++word) {
      packed[word] = a[word * laneCount + l];
    }
    for (int i = 0; i < listLength; ++i) {
      const f32 x = fromSmall(format, takePacked(packed, i, bits)) * scaleOf(scale[l]);
      if constexpr (wide) {
        out[l][i] = bitsOf(x);
      } else {
        out[l][i / 2] |= halfBits<T>(x) << (16 * (i % 2));
      }
    }
  }
  for (int word = 0; word < op.result[0].words; ++word) {
    for (int l = 0; l < laneCount; ++l) {
      putLane(wave.vgpr[op.result[0].reg + word][l], l, active, out[l][word]);
    }
  }
}

/// v_cvt_sr_{fp8,bf8}_f32, v_cvt_scalef32_sr_{fp8,bf8}_{f32,f16,bf16}: into the byte that op_sel
/// names; the others stay.
template <const SmallFloat &format, class T, bool scaled>
void packOneStochastic(Wave &wave, const Op &op) {
  const u64 active = wave.exec();
  const bool saturates = wave.mode >> modeBit::halfOverflow & 1;
  const int shift =
      (op.source[2].mods & mod::opSel ? 8 : 0) + (op.source[0].mods & mod::opSelHi ? 16 : 0);
  const u32 *const source[2] = {fetchRaw(wave, op, 0), nullptr};
  const u32 *random = fetchRaw(wave, op, 1), *scale = scaled ? fetchRaw(wave, op, 2) : nullptr;
  u32 *to = wave.vgpr[op.result[0].reg];
  for (int l = 0; l < laneCount; ++l) {
    const f32 signedValue = withSigns(elementAt<T>(source, l, 0), op.source[0].mods);
    const f32 x = scaled ? signedValue / scaleOf(scale[l]) : signedValue;
    const u32 code = toSmallStochastic(format, x, random[l], saturates);
    putLane(to[l], l, active, (to[l] & ~(255u << shift)) | code << shift);
  }
}

/// v_cvt_scalef32_sr_pk_fp4_{f32,f16,bf16}: two elements into the byte that op_sel names.
template <class T> void packTwoStochastic(Wave &wave, const Op &op) {
  const u64 active = wave.exec();
  const int shift =
      (op.source[2].mods & mod::opSel ? 8 : 0) + (op.source[0].mods & mod::opSelHi ? 16 : 0);
  const u32 *a = fetchRaw(wave, op, 0), *random = fetchRaw(wave, op, 1),
            *scale = fetchRaw(wave, op, 2);
  u32 *to = wave.vgpr[op.result[0].reg];
  for (int l = 0; l < laneCount; ++l) {
    const f32 by = scaleOf(scale[l]);
    const u32 low = toSmallStochastic(e2m1, listedElement<T>(a, l, 0) / by, random[l], true);
    const u32 high =
        toSmallStochastic(e2m1, listedElement<T>(a, l, 1) / by, nextRandom(random[l]), true);
    putLane(to[l], l, active, (to[l] & ~(255u << shift)) | (low | high << 4) << shift);
  }
}

/// v_cvt_sr_{f16,bf16}_f32: as many top bits of the second source as are cut off are added.
template <class T> void packHalfStochastic(Wave &wave, const Op &op) {
  const u64 active = wave.exec();
  const bool high = op.source[0].mods & mod::opSelHi;
  const u32 *a = fetchRaw(wave, op, 0), *random = fetchRaw(wave, op, 1);
  u32 *to = wave.vgpr[op.result[0].reg];
  constexpr int cut = std::is_same_v<T, Half> ? 13 : 16;
  for (int l = 0; l < laneCount; ++l) {
    const f32 x = withSigns(floatOf(a[l]), op.source[0].mods);
    const bool finite = (bitsOf(x) & 0x7f800000) != 0x7f800000;
    const f32 raised = finite ? floatOf(bitsOf(x) + (random[l] >> (32 - cut))) : x;
    u32 result = finite ? bitsOf(raised) >> 16 : toBfloatBits(x);
    if constexpr (std::is_same_v<T, Half>) {
      result = std::fabs(raised) >= 65536 ? toHalfBits(raised) : toHalfBits(raised, true);
    }
    putLane(to[l], l, active, high ? pair(to[l], result) : pair(result, to[l] >> 16));
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
#define KW_SCALED_LISTS(NAME, FORMAT)                                                              \
  {"V_CVT_SCALEF32_2XPK16_" NAME "_F32", packList<FORMAT, f32, Rounding::nearest>},                \
      {"V_CVT_SCALEF32_PK32_" NAME "_F16", packList<FORMAT, Half, Rounding::nearest>},             \
      {"V_CVT_SCALEF32_PK32_" NAME "_BF16", packList<FORMAT, Bfloat, Rounding::nearest>},          \
      {"V_CVT_SCALEF32_SR_PK32_" NAME "_F32", packList<FORMAT, f32, Rounding::stochastic>},        \
      {"V_CVT_SCALEF32_SR_PK32_" NAME "_F16", packList<FORMAT, Half, Rounding::stochastic>},       \
      {"V_CVT_SCALEF32_SR_PK32_" NAME "_BF16", packList<FORMAT, Bfloat, Rounding::stochastic>},    \
      {"V_CVT_SCALEF32_PK32_F32_" NAME, unpackList<FORMAT, f32>},                                  \
      {"V_CVT_SCALEF32_PK32_F16_" NAME, unpackList<FORMAT, Half>}, {                               \
    "V_CVT_SCALEF32_PK32_BF16_" NAME, unpackList<FORMAT, Bfloat>                                   \
  }
#define KW_STOCHASTIC(NAME, FORMAT)                                                                \
  {"V_CVT_SR_" NAME "_F32", packOneStochastic<FORMAT, f32, false>, Flow::accumulate},              \
      {"V_CVT_SCALEF32_SR_" NAME "_F32", packOneStochastic<FORMAT, f32, true>, Flow::accumulate},  \
      {"V_CVT_SCALEF32_SR_" NAME "_F16", packOneStochastic<FORMAT, Half, true>, Flow::accumulate}, \
  {                                                                                                \
    "V_CVT_SCALEF32_SR_" NAME "_BF16", packOneStochastic<FORMAT, Bfloat, true>, Flow::accumulate   \
  }

std::span<const Semantics> smallFloatRows() {
  static const Semantics rows[] = {
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
      KW_SCALED_LISTS("FP6", e2m3),
      KW_SCALED_LISTS("BF6", e3m2),
      KW_STOCHASTIC("FP8", e4m3),
      KW_STOCHASTIC("BF8", e5m2),
      {"V_CVT_SCALEF32_SR_PK_FP4_F32", packTwoStochastic<f32>, Flow::accumulate},
      {"V_CVT_SCALEF32_SR_PK_FP4_F16", packTwoStochastic<Half>, Flow::accumulate},
      {"V_CVT_SCALEF32_SR_PK_FP4_BF16", packTwoStochastic<Bfloat>, Flow::accumulate},
      {"V_CVT_SR_F16_F32", packHalfStochastic<Half>, Flow::accumulate},
      {"V_CVT_SR_BF16_F32", packHalfStochastic<Bfloat>, Flow::accumulate},
  };
  return rows;
}
#undef KW_SCALED_PAIRS
#undef KW_SCALED_LISTS
#undef KW_STOCHASTIC

} // namespace kw::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kw::detail {
HWY_EXPORT(smallFloatRows);
std::span<const Semantics> smallFloatTable() { return HWY_DYNAMIC_DISPATCH(smallFloatRows)(); }
} // namespace kw::detail
#endif
