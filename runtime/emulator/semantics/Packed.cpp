// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VOP3P: two 16-bit or two 32-bit operations an instruction, mixed-precision fma, dot products.
// Source modifiers per half: op_sel picks the half that the low result reads, op_sel_hi that of the
// high one; neg and neg_hi negate for the low and the high result. [Fetch.h, namespace mod]
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/emulator/semantics/Packed.cpp"
// In this order: each line needs the one before.
#include "runtime/emulator/semantics/Targets.h"

#include <hwy/foreach_target.h>

#include "runtime/emulator/semantics/Lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kw::detail::HWY_NAMESPACE {

KW_INLINE Half halfOf(f32 x) { return toHalf(x); }
KW_INLINE f32 smaller(f32 a, f32 b) { return isNan(b) || a < b ? (isNan(a) ? b : a) : b; }
KW_INLINE f32 larger(f32 a, f32 b) { return isNan(b) || b < a ? (isNan(a) ? b : a) : b; }

template <class T> constexpr bool isFloat16 = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>;

/// The half that the low (word 0) or high result reads, with its sign.
template <class T> KW_INLINE T pickHalf(u32 x, int mods, int word) {
  const bool high = word == 0 ? mods & mod::opSel : mods & mod::opSelHi;
  u32 half = high ? x >> 16 : x & 0xffff;
  if constexpr (isFloat16<T>) {
    half ^= (mods & (word == 0 ? mod::neg : mod::negHi)) ? 0x8000 : 0;
  }
  return std::bit_cast<T>(static_cast<u16>(half));
}

KW_INLINE Half clampHalf(Half x) {
  const f32 v = value(x);
  return toHalf(v > 0 ? (v < 1 ? v : 1.0f) : 0.0f);
}

template <auto F, class R, class... A, std::size_t... I>
KW_INLINE void runPacked16(Wave &wave, const Op &op, R (*)(A...), std::index_sequence<I...>) {
  const u64 active = wave.exec();
  const u32 *const source[] = {fetchRaw(wave, op, I)...};
  const int mods[] = {op.source[I].mods...};
  u32 *out = wave.computed[0];
  for (int l = 0; l < laneCount; ++l) {
    R low = F(pickHalf<A>(source[I][l], mods[I], 0)...);
    R high = F(pickHalf<A>(source[I][l], mods[I], 1)...);
    if constexpr (std::is_same_v<R, Half>) {
      low = op.clamp ? clampHalf(low) : low;
      high = op.clamp ? clampHalf(high) : high;
    }
    out[l] = std::bit_cast<u16>(low) | static_cast<u32>(std::bit_cast<u16>(high)) << 16;
  }
  for (int l = 0; l < laneCount; ++l) {
    u32 &to = wave.vgpr[op.result[0].reg][l];
    to = active >> l & 1 ? out[l] : to;
  }
}
template <auto F> void packed16(Wave &wave, const Op &op) {
  [&]<class R, class... A>(R (*function)(A...)) {
    runPacked16<F>(wave, op, function, std::index_sequence_for<A...>());
  }(+F);
}

template <auto F, class... A, std::size_t... I>
KW_INLINE void runPacked32(Wave &wave, const Op &op, f32 (*)(A...), std::index_sequence<I...>) {
  const u64 active = wave.exec();
  const u32 *const source[] = {fetchRaw(wave, op, I)...};
  for (int word = 0; word < 2; ++word) {
    const u8 pick = word == 0 ? mod::opSel : mod::opSelHi;
    const u8 negate = word == 0 ? mod::neg : mod::negHi;
    const u32 *const from[] = {source[I] + (op.source[I].mods & pick ? laneCount : 0)...};
    const u32 sign[] = {(op.source[I].mods & negate ? 0x80000000u : 0u)...};
    u32 *out = wave.computed[word];
    for (int l = 0; l < laneCount; ++l) {
      const f32 x = F(floatOf(from[I][l] ^ sign[I])...);
      out[l] = bitsOf(op.clamp ? (x > 0 ? (x < 1 ? x : 1.0f) : 0.0f) : x);
    }
  }
  if (active == allLanes) {
    std::memcpy(wave.vgpr[op.result[0].reg], wave.computed, 2 * sizeof(Register));
    return;
  }
  for (int word = 0; word < 2; ++word) {
    for (int l = 0; l < laneCount; ++l) {
      u32 &to = wave.vgpr[op.result[0].reg + word][l];
      to = active >> l & 1 ? wave.computed[word][l] : to;
    }
  }
}
template <auto F> void packed32(Wave &wave, const Op &op) {
  [&]<class... A>(f32 (*function)(A...)) {
    runPacked32<F>(wave, op, function, std::index_sequence_for<A...>());
  }(+F);
}

/// v_fma_mix*: op_sel_hi says that the source is f16, op_sel which half; neg_hi means abs.
KW_INLINE f32 mixSource(u32 x, int mods) {
  f32 v = mods & mod::opSelHi ? fromHalf(mods & mod::opSel ? x >> 16 : x & 0xffff) : floatOf(x);
  v = mods & mod::negHi ? std::fabs(v) : v;
  return mods & mod::neg ? -v : v;
}
template <int where> void fmaMix(Wave &wave, const Op &op) { // -1: f32, 0: low half, 1: high half
  const u64 active = wave.exec();
  const u32 *a = fetchRaw(wave, op, 0), *b = fetchRaw(wave, op, 1), *c = fetchRaw(wave, op, 2);
  u32 *to = wave.vgpr[op.result[0].reg];
  for (int l = 0; l < laneCount; ++l) {
    f32 x = __builtin_fmaf(mixSource(a[l], op.source[0].mods), mixSource(b[l], op.source[1].mods),
                           mixSource(c[l], op.source[2].mods));
    x = op.clamp ? (x > 0 ? (x < 1 ? x : 1.0f) : 0.0f) : x;
    const u32 result = where < 0    ? bitsOf(x)
                       : where == 0 ? (to[l] & 0xffff0000) | toHalfBits(x)
                                    : (to[l] & 0xffff) | toHalfBits(x) << 16;
    to[l] = active >> l & 1 ? result : to[l];
  }
}

/// D = c + a.lo * b.lo + a.hi * b.hi, in f32 in that order.
template <class T> KW_INLINE f32 dot2(u32 a, u32 b, f32 c) {
  const f32 low = value(T{static_cast<u16>(a)}) * value(T{static_cast<u16>(b)}) + c;
  return value(T{static_cast<u16>(a >> 16)}) * value(T{static_cast<u16>(b >> 16)}) + low;
}
KW_INLINE u32 dot4(u32 a, u32 b, u32 c, bool isSigned) {
  for (int i = 0; i < 4; ++i) {
    const i32 x =
        isSigned ? static_cast<std::int8_t>(a >> (8 * i)) : static_cast<i32>(a >> (8 * i) & 255);
    const i32 y =
        isSigned ? static_cast<std::int8_t>(b >> (8 * i)) : static_cast<i32>(b >> (8 * i) & 255);
    c += static_cast<u32>(x * y);
  }
  return c;
}

// Dot products take whole registers: their op_sel_hi defaults mean nothing here.
template <auto F> void dot(Wave &wave, const Op &op) {
  Op plain = op;
  for (Operand &source : plain.source) {
    source.mods = 0;
  }
  plain.plainSources = true;
  lanes<F>(wave, plain);
}

std::span<const Semantics> packedRows() {
  static const Semantics rows[] = {
      {"V_PK_ADD_F16", packed16<[](Half a, Half b) { return halfOf(value(a) + value(b)); }>},
      {"V_PK_MUL_F16", packed16<[](Half a, Half b) { return halfOf(value(a) * value(b)); }>},
      {"V_PK_FMA_F16", packed16<[](Half a, Half b, Half c) { return fusedMultiplyAdd(a, b, c); }>},
      {"V_PK_MIN_F16",
       packed16<[](Half a, Half b) { return halfOf(smaller(value(a), value(b))); }>},
      {"V_PK_MAX_F16", packed16<[](Half a, Half b) { return halfOf(larger(value(a), value(b))); }>},
      {"V_PK_ADD_U16", packed16<[](u16 a, u16 b) { return static_cast<u16>(a + b); }>},
      {"V_PK_SUB_U16", packed16<[](u16 a, u16 b) { return static_cast<u16>(a - b); }>},
      {"V_PK_ADD_I16", packed16<[](u16 a, u16 b) { return static_cast<u16>(a + b); }>},
      {"V_PK_SUB_I16", packed16<[](u16 a, u16 b) { return static_cast<u16>(a - b); }>},
      {"V_PK_MUL_LO_U16", packed16<[](u16 a, u16 b) { return static_cast<u16>(u32{a} * b); }>},
      {"V_PK_MAD_U16",
       packed16<[](u16 a, u16 b, u16 c) { return static_cast<u16>(u32{a} * b + c); }>},
      {"V_PK_MAD_I16",
       packed16<[](u16 a, u16 b, u16 c) { return static_cast<u16>(u32{a} * b + c); }>},
      {"V_PK_LSHLREV_B16", packed16<[](u16 a, u16 b) { return static_cast<u16>(b << (a & 15)); }>},
      {"V_PK_LSHRREV_B16",
       packed16<[](u16 a, u16 b) { return static_cast<u16>((b >> (a & 15))); }>},
      {"V_PK_ASHRREV_I16",
       packed16<[](u16 a, i16 b) { return static_cast<i16>((b >> (a & 15))); }>},
      {"V_PK_MIN_U16", packed16<[](u16 a, u16 b) { return std::min(a, b); }>},
      {"V_PK_MAX_U16", packed16<[](u16 a, u16 b) { return std::max(a, b); }>},
      {"V_PK_MIN_I16", packed16<[](i16 a, i16 b) { return std::min(a, b); }>},
      {"V_PK_MAX_I16", packed16<[](i16 a, i16 b) { return std::max(a, b); }>},

      {"V_PK_ADD_F32", packed32<[](f32 a, f32 b) { return a + b; }>, Flow::byWord},
      {"V_PK_MUL_F32", packed32<[](f32 a, f32 b) { return a * b; }>, Flow::byWord},
      {"V_PK_FMA_F32", packed32<[](f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }>,
       Flow::byWord},

      {"V_FMA_MIX_F32", fmaMix<-1>},
      {"V_FMA_MIXLO_F16", fmaMix<0>},
      {"V_FMA_MIXHI_F16", fmaMix<1>},
      {"V_DOT2_F32_F16", dot<[](u32 a, u32 b, f32 c) { return dot2<Half>(a, b, c); }>},
      {"V_DOT2C_F32_F16", dot<[](u32 a, u32 b, f32 c) { return dot2<Half>(a, b, c); }>,
       Flow::accumulate},
      {"V_DOT2_F32_BF16", dot<[](u32 a, u32 b, f32 c) { return dot2<Bfloat>(a, b, c); }>},
      {"V_DOT2C_F32_BF16", dot<[](u32 a, u32 b, f32 c) { return dot2<Bfloat>(a, b, c); }>,
       Flow::accumulate},
      {"V_DOT4_I32_I8", dot<[](u32 a, u32 b, u32 c) { return dot4(a, b, c, true); }>},
      {"V_DOT4C_I32_I8", dot<[](u32 a, u32 b, u32 c) { return dot4(a, b, c, true); }>,
       Flow::accumulate},
      {"V_DOT4_U32_U8", dot<[](u32 a, u32 b, u32 c) { return dot4(a, b, c, false); }>},
  };
  return rows;
}

} // namespace kw::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kw::detail {
HWY_EXPORT(packedRows);
std::span<const Semantics> packedTable() { return HWY_DYNAMIC_DISPATCH(packedRows)(); }
} // namespace kw::detail
#endif
