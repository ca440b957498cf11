// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Number formats of the vector instructions, bit by bit and without branches where they are hot, so
// that loops over lanes vectorise. Rounding is to nearest even unless the name says otherwise.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kw::detail {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using f32 = float;
using f64 = double;

/// 16-bit floats as they lie in the low half of a register.
struct Half {
  u16 bits;
};
struct Bfloat {
  u16 bits;
};

#define KW_INLINE inline __attribute__((always_inline))

KW_INLINE u32 bitsOf(f32 x) { return std::bit_cast<u32>(x); }
KW_INLINE f32 floatOf(u32 x) { return std::bit_cast<f32>(x); }
KW_INLINE bool isNan(f32 x) { return (bitsOf(x) & 0x7fffffff) > 0x7f800000; }
KW_INLINE bool isNan(f64 x) { return x != x; }
/// What invalid operations give. [ISA, functional examples]
KW_INLINE f32 invalidResult() { return floatOf(0xffc00000); }
KW_INLINE f32 quieted(f32 x) { return isNan(x) ? floatOf(bitsOf(x) | 0x400000) : x; }
/// Denormals become zeros of their sign.
KW_INLINE f32 flushed(f32 x) {
  return (bitsOf(x) & 0x7f800000) == 0 ? floatOf(bitsOf(x) & 0x80000000) : x;
}

/// Exact. Denormals become normal; NaNs keep their payload and are made quiet, as F16C does.
KW_INLINE f32 fromHalf(u32 bits) {
  const u32 sign = (bits & 0x8000) << 16;
  const u32 magnitude = bits & 0x7fff;
  const u32 normal = (magnitude << 13) + 0x38000000;
  const u32 special = (magnitude << 13) | 0x7f800000 | (magnitude > 0x7c00 ? 0x400000 : 0);
  const u32 denormal = bitsOf(static_cast<f32>(static_cast<i32>(magnitude)) * 0x1p-24f);
  const u32 result = magnitude >= 0x7c00 ? special : magnitude < 0x400 ? denormal : normal;
  return floatOf(sign | result);
}

/// f32 to f16, whatever the host's rounding. `towardZero`: as v_cvt_pkrtz.
KW_INLINE u32 toHalfBits(f32 x, bool towardZero = false) {
  const u32 bits = bitsOf(x);
  const u32 sign = bits >> 16 & 0x8000;
  const u32 magnitude = bits & 0x7fffffff;
  // Normal results: round the 13 dropped bits; a carry runs into the exponent as it should.
  const u32 half = towardZero ? 0 : 0xfff + (magnitude >> 13 & 1);
  const u32 normal = (magnitude - 0x38000000 + half) >> 13;
  // Denormal results: multiples of 2^-24.
  const u32 exponent = magnitude >> 23;
  const u32 significand = (magnitude & 0x7fffff) | (exponent != 0 ? 0x800000 : 0);
  const u32 shift = exponent < 96 || exponent > 125 ? 30 : 126 - exponent;
  const u32 denormalHalf = towardZero ? 0 : (1u << (shift - 1)) - 1 + (significand >> shift & 1);
  const u32 denormal = (significand + denormalHalf) >> shift;
  const u32 nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
  const u32 overflow = towardZero && magnitude != 0x7f800000 ? 0x7bff : 0x7c00;
  u32 result = magnitude < 0x38800000 ? denormal : normal;
  result = magnitude >= 0x47800000 || result > 0x7c00 ? overflow : result;
  result = magnitude > 0x7f800000 ? nan : result;
  return sign | result;
}

KW_INLINE f32 fromBfloat(u32 bits) { return floatOf(bits << 16); }
KW_INLINE u32 toBfloatBits(f32 x) {
  const u32 bits = bitsOf(x);
  const u32 rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return (bits & 0x7fffffff) > 0x7f800000 ? (bits >> 16 | 0x40) : rounded;
}

KW_INLINE f32 value(Half x) { return fromHalf(x.bits); }
KW_INLINE f32 value(Bfloat x) { return fromBfloat(x.bits); }
KW_INLINE Half toHalf(f32 x) { return {static_cast<u16>(toHalfBits(x))}; }

/// Sums of two packed halves, as atomics add them.
inline u32 addPackedHalf(u32 a, u32 b) {
  return toHalfBits(fromHalf(a & 0xffff) + fromHalf(b & 0xffff)) |
         toHalfBits(fromHalf(a >> 16) + fromHalf(b >> 16)) << 16;
}
inline u32 addPackedBfloat(u32 a, u32 b) {
  return toBfloatBits(fromBfloat(a & 0xffff) + fromBfloat(b & 0xffff)) |
         toBfloatBits(fromBfloat(a >> 16) + fromBfloat(b >> 16)) << 16;
}

/// Rounded once: the exact sum goes to f32 with round to odd, then to f16.
KW_INLINE Half fusedMultiplyAdd(Half a, Half b, Half c) {
  const f64 sum = static_cast<f64>(value(a)) * value(b) + value(c);
  const f32 near = static_cast<f32>(sum);
  u32 bits = bitsOf(near);
  const bool exact = static_cast<f64>(near) == sum || isNan(near);
  const bool tooLarge = std::fabs(static_cast<f64>(near)) > std::fabs(sum);
  bits = exact ? bits : ((tooLarge ? bits - 1 : bits) | 1);
  return toHalf(floatOf(bits));
}

/// Small floats: `exponentBits`, `mantissaBits`, bias; E4M3 (fn) has no infinity.
struct SmallFloat {
  int exponentBits, mantissaBits, bias;
  enum class Special { none, nanOnly, ieee } special;
  constexpr int bits() const { return 1 + exponentBits + mantissaBits; }
};
constexpr SmallFloat e4m3{4, 3, 7, SmallFloat::Special::nanOnly};
constexpr SmallFloat e5m2{5, 2, 15, SmallFloat::Special::ieee};
constexpr SmallFloat e2m3{2, 3, 1, SmallFloat::Special::none};
constexpr SmallFloat e3m2{3, 2, 3, SmallFloat::Special::none};
constexpr SmallFloat e2m1{2, 1, 1, SmallFloat::Special::none};

f32 fromSmall(const SmallFloat &format, u32 bits);
/// Round to nearest even, whatever the host's rounding; beyond the largest finite value saturates
/// (`saturate`) or becomes the format's NaN or infinity.
u32 toSmall(const SmallFloat &format, f32 x, bool saturate);
/// Stochastic rounding: the top bits of `random` are added to the bits that are cut off.
u32 toSmallStochastic(const SmallFloat &format, f32 x, u32 random, bool saturate);

/// v_prng_b32: the next state of a linear feedback shift register.
KW_INLINE u32 nextRandom(u32 x) { return x << 1 ^ (x >> 31 != 0 ? 197u : 0u); }

/// 2^(byte - 127); 255 is NaN.
KW_INLINE f32 fromE8m0(u32 byte) {
  return byte == 255 ? std::numeric_limits<f32>::quiet_NaN()
         : byte == 0 ? floatOf(0x400000)
                     : floatOf(byte << 23);
}

} // namespace kw::detail
