// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between f64, f32, bf16 and integers, and of f32 to packed f16 (the others of f16 are
// in Half.cpp). Float to integer saturates and turns NaN into 0.
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
  return static_cast<u32>(
      __builtin_roundevenf(std::clamp(isNan(x) ? 0.0f : x, 0.0f, 1.0f) * scale));
}
KW_INLINE u32 toSnorm(f32 x, f32 scale) {
  return static_cast<u32>(
      static_cast<i32>(__builtin_roundevenf(std::clamp(isNan(x) ? 0.0f : x, -1.0f, 1.0f) * scale)));
}

/// v_cvt_pk_u8_f32: byte `at` of x becomes the integer part of a, between 0 and 255.
KW_INLINE u32 insertByte(u32 x, u32 at, f32 a) {
  const u32 shift = 8 * (at & 3);
  return (x & ~(0xffu << shift)) | std::min(toInteger<u32>(a), 255u) << shift;
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
      {"V_CVT_F64_I32", lanes<[](i32 a) { return static_cast<f64>(a); }>},
      {"V_CVT_F64_U32", lanes<[](u32 a) { return static_cast<f64>(a); }>},
      {"V_CVT_I32_F64", lanes<[](f64 a) { return toInteger<i32>(a); }>},
      {"V_CVT_U32_F64", lanes<[](f64 a) { return toInteger<u32>(a); }>},
      {"V_CVT_F32_BF16", lanes<[](Bfloat a) { return value(a); }>},
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
      {"V_CVT_NORM_I16_F16",
       lanes<[](Half a) { return static_cast<u16>(toSnorm(value(a), 32767.0f)); }>},
      {"V_CVT_NORM_U16_F16",
       lanes<[](Half a) { return static_cast<u16>(toUnorm(value(a), 65535.0f)); }>},
      {"V_CVT_PKNORM_I16_F16", lanes<[](Half a, Half b) {
         return pair(toSnorm(value(a), 32767.0f), toSnorm(value(b), 32767.0f));
       }>},
      {"V_CVT_PKNORM_U16_F16", lanes<[](Half a, Half b) {
         return pair(toUnorm(value(a), 65535.0f), toUnorm(value(b), 65535.0f));
       }>},
      {"V_CVT_OFF_F32_I4",
       lanes<[](u32 a) { return static_cast<f32>(static_cast<i32>(a << 28) >> 28) / 16; }>},
      {"V_CVT_PK_U8_F32", lanes<[](f32 a, u32 b, u32 c) { return insertByte(c, b, a); }>},
      {"V_CVT_PKACCUM_U8_F32", lanes<[](f32 a, u32 b, u32 c) { return insertByte(c, b, a); }>,
       Flow::accumulate},
  };
  return rows;
}

} // namespace kw::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kw::detail {
HWY_EXPORT(convertRows);
std::span<const Semantics> convertTable() { return HWY_DYNAMIC_DISPATCH(convertRows)(); }
} // namespace kw::detail
#endif
