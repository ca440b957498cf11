// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// VOP3P: two 16-bit integer or two 32-bit operations an instruction, dot products; packed f16 is in
// Half.cpp.
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

#include "runtime/emulator/FloatMode.h"
#include "runtime/emulator/semantics/Lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kw::detail::HWY_NAMESPACE {

/// The half that the low (word 0) or high result reads.
template <class T> KW_INLINE T pickHalf(u32 x, int mods, int word) {
  const bool high = word == 0 ? mods & mod::opSel : mods & mod::opSelHi;
  return std::bit_cast<T>(static_cast<u16>(high ? x >> 16 : x & 0xffff));
}

/// Sums and products of T that wrap, or with clamp saturate.
template <class T> KW_INLINE u32 wrapped(i64 exact, bool saturates) {
  constexpr i64 low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  return static_cast<u16>(saturates ? std::clamp(exact, low, high) : exact);
}

template <auto F, class R, class... A, std::size_t... I>
KW_INLINE void runPacked16(Wave &wave, const Op &op, i64 (*)(A...), std::index_sequence<I...>) {
  const u64 active = wave.exec();
  const u32 *const source[] = {fetchRaw(wave, op, I)...};
  const int mods[] = {op.source[I].mods...};
  u32 *out = wave.computed[0];
  for (int l = 0; l < laneCount; ++l) {
    const i64 low = F(pickHalf<A>(source[I][l], mods[I], 0)...);
    const i64 high = F(pickHalf<A>(source[I][l], mods[I], 1)...);
    out[l] = wrapped<R>(low, op.clamp) | wrapped<R>(high, op.clamp) << 16;
  }
  for (int l = 0; l < laneCount; ++l) {
    u32 &to = wave.vgpr[op.result[0].reg][l];
    to = active >> l & 1 ? out[l] : to;
  }
}
/// F gives the exact result of halves, R is what it wraps or saturates to.
template <class R, auto F> void packed16(Wave &wave, const Op &op) {
  [&]<class... A>(i64 (*function)(A...)) {
    runPacked16<F, R>(wave, op, function, std::index_sequence_for<A...>());
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

/// Element i of `bits` bits.
template <bool isSigned> KW_INLINE i64 elementOf(u32 x, int i, int bits) {
  const u32 top = x << (32 - bits - i * bits);
  return isSigned ? static_cast<i64>(static_cast<i32>(top) >> (32 - bits))
                  : static_cast<i64>(top >> (32 - bits));
}
/// c + the sum of products of elements of `bits` bits; exact, then wrapped or saturated.
template <int bits, bool isSigned> void dotIntegers(Wave &wave, const Op &op) {
  const u64 active = wave.exec();
  const u32 *a = fetchRaw(wave, op, 0), *b = fetchRaw(wave, op, 1), *c = fetchRaw(wave, op, 2);
  u32 *to = wave.vgpr[op.result[0].reg];
  for (int l = 0; l < laneCount; ++l) {
    i64 sum = isSigned ? static_cast<i64>(static_cast<i32>(c[l])) : static_cast<i64>(c[l]);
    for (int i = 0; i < 32 / bits; ++i) {
      sum += elementOf<isSigned>(a[l], i, bits) * elementOf<isSigned>(b[l], i, bits);
    }
    constexpr i64 low = isSigned ? std::numeric_limits<i32>::min() : 0;
    constexpr i64 high =
        isSigned ? std::numeric_limits<i32>::max() : i64{std::numeric_limits<u32>::max()};
    const u32 result = static_cast<u32>(op.clamp ? std::clamp(sum, low, high) : sum);
    to[l] = active >> l & 1 ? result : to[l];
  }
}

/// Dot products of f16 and bf16 know no MODE: nearest even, denormals flushed. [ISA, 6.4]
template <class T> KW_INLINE f32 dotSource(u32 x, int half, int mods) {
  const u32 bits = (half == 0 ? x : x >> 16) & 0xffff;
  const u32 sign = (mods & (half == 0 ? mod::neg : mod::negHi)) ? 0x8000 : 0;
  constexpr u32 exponent = std::is_same_v<T, Half> ? 0x7c00 : 0x7f80;
  const u32 kept = (bits & exponent) == 0 ? bits & 0x8000 : bits;
  return value(T{static_cast<u16>(kept ^ sign)});
}
/// In f32: c + a.low * b.low + a.high * b.high in that order, or the products first.
template <class T, bool productsFirst> void dotFloats(Wave &wave, const Op &op) {
  const HostFloatMode host(0);
  const u64 active = wave.exec();
  const u32 *a = fetchRaw(wave, op, 0), *b = fetchRaw(wave, op, 1), *c = fetchRaw(wave, op, 2);
  const int mods[3] = {op.source[0].mods, op.source[1].mods, op.source[2].mods};
  const u32 signOfC = mods[2] & mod::neg ? 0x80000000 : 0;
  u32 *to = wave.vgpr[op.result[0].reg];
  for (int l = 0; l < laneCount; ++l) {
    const f32 low = dotSource<T>(a[l], 0, mods[0]) * dotSource<T>(b[l], 0, mods[1]);
    const f32 high = dotSource<T>(a[l], 1, mods[0]) * dotSource<T>(b[l], 1, mods[1]);
    const f32 addend = floatOf(c[l] ^ signOfC);
    const f32 x = productsFirst ? (low + high) + addend : (addend + low) + high;
    const f32 result = op.clamp ? (x > 0 ? (x < 1 ? x : 1.0f) : 0.0f) : x;
    to[l] = active >> l & 1 ? bitsOf(result) : to[l];
  }
}

std::span<const Semantics> packedRows() {
  static const Semantics rows[] = {
      {"V_PK_ADD_U16", packed16<u16, [](u16 a, u16 b) -> i64 { return i64{a} + b; }>},
      {"V_PK_SUB_U16", packed16<u16, [](u16 a, u16 b) -> i64 { return i64{a} - b; }>},
      {"V_PK_ADD_I16", packed16<i16, [](i16 a, i16 b) -> i64 { return i64{a} + b; }>},
      {"V_PK_SUB_I16", packed16<i16, [](i16 a, i16 b) -> i64 { return i64{a} - b; }>},
      {"V_PK_MUL_LO_U16", packed16<u16, [](u16 a, u16 b) -> i64 { return i64{a} * b; }>},
      {"V_PK_MAD_U16", packed16<u16, [](u16 a, u16 b, u16 c) -> i64 { return i64{a} * b + c; }>},
      {"V_PK_MAD_I16", packed16<i16, [](i16 a, i16 b, i16 c) -> i64 { return i64{a} * b + c; }>},
      {"V_PK_LSHLREV_B16", packed16<u16, [](u16 a, u16 b) -> i64 { return i64{b} << (a & 15); }>},
      {"V_PK_LSHRREV_B16", packed16<u16, [](u16 a, u16 b) -> i64 { return (i64{b} >> (a & 15)); }>},
      {"V_PK_ASHRREV_I16", packed16<i16, [](u16 a, i16 b) -> i64 { return (i64{b} >> (a & 15)); }>},
      {"V_PK_MIN_U16", packed16<u16, [](u16 a, u16 b) -> i64 { return std::min(a, b); }>},
      {"V_PK_MAX_U16", packed16<u16, [](u16 a, u16 b) -> i64 { return std::max(a, b); }>},
      {"V_PK_MIN_I16", packed16<i16, [](i16 a, i16 b) -> i64 { return std::min(a, b); }>},
      {"V_PK_MAX_I16", packed16<i16, [](i16 a, i16 b) -> i64 { return std::max(a, b); }>},

      {"V_PK_ADD_F32", packed32<[](f32 a, f32 b) { return a + b; }>, Flow::byWord},
      {"V_PK_MUL_F32", packed32<[](f32 a, f32 b) { return a * b; }>, Flow::byWord},
      {"V_PK_FMA_F32", packed32<[](f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }>,
       Flow::byWord},

      {"V_DOT2_F32_F16", dotFloats<Half, false>},
      {"V_DOT2C_F32_F16", dotFloats<Half, false>, Flow::accumulate},
      {"V_DOT2_F32_BF16", dotFloats<Bfloat, true>},
      {"V_DOT2C_F32_BF16", dotFloats<Bfloat, false>, Flow::accumulate},
      {"V_DOT2_I32_I16", dotIntegers<16, true>},
      {"V_DOT2_U32_U16", dotIntegers<16, false>},
      {"V_DOT2C_I32_I16", dotIntegers<16, true>, Flow::accumulate},
      {"V_DOT4_I32_I8", dotIntegers<8, true>},
      {"V_DOT4_U32_U8", dotIntegers<8, false>},
      {"V_DOT4C_I32_I8", dotIntegers<8, true>, Flow::accumulate},
      {"V_DOT8_I32_I4", dotIntegers<4, true>},
      {"V_DOT8_U32_U4", dotIntegers<4, false>},
      {"V_DOT8C_I32_I4", dotIntegers<4, true>, Flow::accumulate},
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
