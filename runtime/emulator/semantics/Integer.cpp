// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer, bitwise and move instructions of VOP1, VOP2 and VOP3. Shifts to the right stand in
// parentheses because GCC 12 takes >> in a lambda for the end of the template arguments.
#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/emulator/semantics/Integer.cpp"
// In this order: each line needs the one before.
#include "runtime/emulator/semantics/Targets.h"

#include <hwy/foreach_target.h>

#include "runtime/emulator/semantics/Lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kw::detail::HWY_NAMESPACE {

KW_INLINE i32 signed24(u32 x) { return static_cast<i32>(x << 8) >> 8; }
KW_INLINE i64 exact24(i64 x) { return signed24(static_cast<u32>(x)); }
KW_INLINE u32 unsigned24(u32 x) { return x & 0xffffff; }
KW_INLINE u32 fieldMask(u32 bits) { return (1u << (bits & 31)) - 1; }
KW_INLINE i32 signedField(i32 x, u32 offset, u32 bits) {
  const u32 width = bits & 31;
  const u32 part = static_cast<u32>(x >> (offset & 31)) & fieldMask(width);
  const u32 sign = width == 0 ? 0 : 1u << (width - 1);
  return static_cast<i32>((part ^ sign) - sign);
}
KW_INLINE u32 byteOf(u32 x, int i) { return x >> (8 * i) & 255; }
/// v_perm: byte selectors 0-7 of {a, b} (b is low), 8-11 signs, 12 zero, 13 and above 0xff.
KW_INLINE u32 permuteBytes(u32 a, u32 b, u32 selectors) {
  const u64 both = b | static_cast<u64>(a) << 32;
  u32 result = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 selector = byteOf(selectors, i);
    u32 byte = static_cast<u32>(both >> (8 * (selector & 7))) & 255;
    const u32 signs = (selector & 3) == 0   ? b >> 15
                      : (selector & 3) == 1 ? b >> 31
                      : (selector & 3) == 2 ? a >> 15
                                            : a >> 31;
    byte = selector >= 13 ? 255 : selector == 12 ? 0 : selector >= 8 ? (signs & 1 ? 255 : 0) : byte;
    result |= byte << (8 * i);
  }
  return result;
}
template <class T> KW_INLINE T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}
/// 64-bit by 32-bit: no instruction of AVX2, but few.
KW_INLINE u32 highProduct(u32 a, u32 b) { return static_cast<u32>(static_cast<u64>(a) * b >> 32); }
KW_INLINE i32 highProduct(i32 a, i32 b) { return static_cast<i32>(static_cast<i64>(a) * b >> 32); }
KW_INLINE u32 leadingZeros(u32 x) { return x == 0 ? ~0u : static_cast<u32>(std::countl_zero(x)); }
KW_INLINE u32 reversed(u32 x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return x >> 24 | (x >> 8 & 0xff00) | (x << 8 & 0xff0000) | x << 24;
}

/// D = truth table imm of the bits of three sources: a selects 0xf0, b 0xcc, c 0xaa.
template <class T> void bitop3(Wave &wave, const Op &op) {
  u64 active = wave.exec();
  const u32 *a = fetch<T>(wave, op, 0, active), *b = fetch<T>(wave, op, 1, active),
            *c = fetch<T>(wave, op, 2, active);
  u32 *out = wave.computed[0];
  for (int l = 0; l < laneCount; ++l) {
    u32 result = 0;
    for (int row = 0; row < 8; ++row) {
      const u32 on = static_cast<u32>(op.imm >> row & 1) ? ~0u : 0;
      result |= on & (row & 4 ? a[l] : ~a[l]) & (row & 2 ? b[l] : ~b[l]) & (row & 1 ? c[l] : ~c[l]);
    }
    out[l] = sizeof(T) == 2 ? result & 0xffff : result;
  }
  finish<T>(wave, op, active);
}

/// V_MAD_U64_U32 and _I64_I32: bit 64 of the exact sum goes to result 1.
template <class Narrow, class Wide> void mad64(Wave &wave, const Op &op) {
  __extension__ using Exact = __int128;
  u64 active = wave.exec();
  const u32 *a = fetch<u32>(wave, op, 0, active), *b = fetch<u32>(wave, op, 1, active),
            *c = fetch<u64>(wave, op, 2, active);
  alignas(64) u32 carries[laneCount];
  for (int l = 0; l < laneCount; ++l) {
    const Wide product =
        static_cast<Wide>(static_cast<Narrow>(a[l])) * static_cast<Wide>(static_cast<Narrow>(b[l]));
    const Exact sum = static_cast<Exact>(product) + static_cast<Wide>(loadLane<u64>(c, l));
    constexpr Exact low = std::numeric_limits<Wide>::min(), high = std::numeric_limits<Wide>::max();
    carries[l] = static_cast<u32>(sum >> 64) & 1;
    const Exact result = !op.clamp ? sum : sum < low ? low : sum > high ? high : sum;
    storeLane<u64>(wave.computed[0], l, static_cast<u64>(result));
  }
  Op unclamped = op;
  unclamped.clamp = false;
  finish<u64>(wave, unclamped, active);
  wave.writeScalar64(op.result[1], packBits(carries) & active);
}

template <class R> KW_INLINE R saturated(i64 exact) {
  constexpr i64 low = std::numeric_limits<R>::min(), high = std::numeric_limits<R>::max();
  return static_cast<R>(exact < low ? low : exact > high ? high : exact);
}
/// Clamp of integer sums and products saturates to the result's type; they are common without it,
/// so Plain is what GCC vectorises and Exact, of i64, what clamp needs.
template <auto Plain, auto Exact> void addLike(Wave &wave, const Op &op) {
  if (!op.clamp) [[likely]] {
    lanes<Plain>(wave, op);
    return;
  }
  Op unclamped = op;
  unclamped.clamp = false;
  [&]<class R, class... A>(R (*)(A...)) {
    lanes<[](A... a) { return saturated<R>(Exact(static_cast<i64>(a)...)); }>(wave, unclamped);
  }(+Plain);
}
/// The same of R from sources of type A.
template <class R, auto Exact, class... A> void sumOf(Wave &wave, const Op &op) {
  addLike<[](A... a) { return static_cast<R>(Exact(static_cast<i64>(a)...)); }, Exact>(wave, op);
}
constexpr auto sum2 = [](i64 a, i64 b) { return a + b; };
constexpr auto difference = [](i64 a, i64 b) { return a - b; };
constexpr auto differenceBack = [](i64 a, i64 b) { return b - a; };
constexpr auto productSum = [](i64 a, i64 b, i64 c) { return a * b + c; };

/// Sum of differences of bytes; `masked`: but for those whose byte of b is 0.
KW_INLINE u32 byteDifferences(u32 a, u32 b, bool masked) {
  u32 sum = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 x = byteOf(a, i), y = byteOf(b, i);
    sum += masked && y == 0 ? 0 : x > y ? x - y : y - x;
  }
  return sum;
}
KW_INLINE u32 halfDifferences(u32 a, u32 b) {
  u32 sum = 0;
  for (int shift = 0; shift < 32; shift += 16) {
    const u32 x = a >> shift & 0xffff, y = b >> shift & 0xffff;
    sum += x > y ? x - y : y - x;
  }
  return sum;
}
/// v_qsad, v_mqsad: b against the four windows of a that start at its bytes 0 to 3.
template <bool masked> KW_INLINE u64 windowDifferences(u64 a, u32 b, u64 c) {
  u64 result = 0;
  for (int i = 0; i < 4; ++i) {
    const u64 sum =
        byteDifferences(static_cast<u32>(a >> (8 * i)), b, masked) + (c >> (16 * i) & 0xffff);
    result |= (sum & 0xffff) << (16 * i);
  }
  return result;
}
/// v_mqsad_u32_u8: the same, each with an addend and a result of 32 bits.
void maskedWindows(Wave &wave, const Op &op) {
  const u64 active = wave.exec();
  u64 all = active;
  const u32 *a = fetch<u64>(wave, op, 0, all), *b = fetch<u32>(wave, op, 1, all);
  for (int l = 0; l < laneCount; ++l) {
    const u64 window = loadLane<u64>(a, l);
    for (int i = 0; i < 4; ++i) {
      const Operand &addend = op.source[2];
      const u32 c = addend.file == File::vector ? wave.vgpr[addend.reg + i][l]
                                                : static_cast<u32>(addend.value);
      wave.computed[i][l] = byteDifferences(static_cast<u32>(window >> (8 * i)), b[l], true) + c;
    }
  }
  for (int i = 0; i < 4; ++i) {
    for (int l = 0; l < laneCount; ++l) {
      u32 &to = wave.vgpr[op.result[0].reg + i][l];
      to = active >> l & 1 ? wave.computed[i][l] : to;
    }
  }
}
KW_INLINE u32 averageBytes(u32 a, u32 b, u32 c) {
  u32 result = 0;
  for (int i = 0; i < 4; ++i) {
    result |= (byteOf(a, i) + byteOf(b, i) + (byteOf(c, i) & 1)) >> 1 << (8 * i);
  }
  return result;
}
/// v_ashr_pk: both sources shifted, saturated to bytes.
template <class Byte> KW_INLINE u16 shiftedBytes(i32 a, i32 b, u32 by) {
  const auto one = [&](i32 x) {
    return static_cast<u32>(static_cast<u8>(saturated<Byte>(static_cast<i64>(x >> (by & 31)))));
  };
  return static_cast<u16>(one(a) | one(b) << 8);
}
KW_INLINE u16 saturateHalves(u32 x) {
  const auto one = [&](u32 half) {
    return static_cast<u32>(saturated<u8>(static_cast<i16>(half)));
  };
  return static_cast<u16>(one(x & 0xffff) | one(x >> 16) << 8);
}
void pkMov(Wave &wave, const Op &op) {
  const u64 active = wave.exec();
  u64 valid[2];
  for (int word = 0; word < 2; ++word) {
    const u32 *raw = fetchRaw(wave, op, word);
    const bool high = op.source[word].mods & mod::opSel;
    std::copy_n(raw + (high ? laneCount : 0), laneCount, wave.computed[word]);
    const Operand &from = op.source[word];
    valid[word] = from.file == File::vector ? wave.vgprValid[from.reg + high] : allLanes;
  }
  finish<u64>(wave, op, active);
  for (int word = 0; word < 2; ++word) {
    u64 &to = wave.vgprValid[op.result[0].reg + word];
    to = (to & ~active) | (valid[word] & active);
  }
}

std::span<const Semantics> integerRows() {
  static const Semantics rows[] = {
      {"V_MOV_B32", lanes<[](u32 a) { return a; }>},
      {"V_MOV_B64", lanes<[](u64 a) { return a; }>, Flow::byWord},
      {"V_PK_MOV_B32", pkMov, Flow::handler},
      {"V_ACCVGPR_READ_B32", lanes<[](u32 a) { return a; }>},
      {"V_ACCVGPR_WRITE_B32", lanes<[](u32 a) { return a; }>},
      {"V_ACCVGPR_MOV_B32", lanes<[](u32 a) { return a; }>},
      // Float: the negated source of a 64-bit encoding is used by compilers.
      {"V_CNDMASK_B32", lanes<[](f32 a, f32 b, Bit c) { return c.set ? b : a; }>, Flow::select},

      {"V_NOT_B32", lanes<[](u32 a) { return ~a; }>},
      {"V_AND_B32", lanes<[](u32 a, u32 b) { return a & b; }>},
      {"V_OR_B32", lanes<[](u32 a, u32 b) { return a | b; }>},
      {"V_XOR_B32", lanes<[](u32 a, u32 b) { return a ^ b; }>},
      {"V_XNOR_B32", lanes<[](u32 a, u32 b) { return ~(a ^ b); }>},
      {"V_AND_OR_B32", lanes<[](u32 a, u32 b, u32 c) { return (a & b) | c; }>},
      {"V_OR3_B32", lanes<[](u32 a, u32 b, u32 c) { return a | b | c; }>},
      {"V_XAD_U32", lanes<[](u32 a, u32 b, u32 c) { return (a ^ b) + c; }>},
      {"V_BFI_B32", lanes<[](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }>},
      {"V_BITOP3_B32", bitop3<u32>},
      {"V_BITOP3_B16", bitop3<u16>},
      {"V_BFREV_B32", lanes<[](u32 a) { return reversed(a); }>},
      {"V_BFE_U32", lanes<[](u32 a, u32 b, u32 c) { return (a >> (b & 31)) & fieldMask(c); }>},
      {"V_BFE_I32", lanes<[](i32 a, u32 b, u32 c) { return signedField(a, b, c); }>},
      {"V_BFM_B32", lanes<[](u32 a, u32 b) { return fieldMask(a) << (b & 31); }>},
      {"V_FFBH_U32", lanes<[](u32 a) { return leadingZeros(a); }>},
      {"V_FFBH_I32", lanes<[](i32 a) { return leadingZeros(static_cast<u32>(a < 0 ? ~a : a)); }>},
      {"V_FFBL_B32",
       lanes<[](u32 a) { return a == 0 ? ~0u : static_cast<u32>(std::countr_zero(a)); }>},
      {"V_BCNT_U32_B32", lanes<[](u32 a, u32 b) { return std::popcount(a) + b; }>},
      {"V_PERM_B32", lanes<[](u32 a, u32 b, u32 c) { return permuteBytes(a, b, c); }>},
      {"V_ALIGNBIT_B32", lanes<[](u32 a, u32 b, u32 c) {
         return static_cast<u32>(((static_cast<u64>(a) << 32 | b) >> (c & 31)));
       }>},
      {"V_ALIGNBYTE_B32", lanes<[](u32 a, u32 b, u32 c) {
         return static_cast<u32>(((static_cast<u64>(a) << 32 | b) >> (8 * (c & 3))));
       }>},

      {"V_LSHLREV_B32", lanes<[](u32 a, u32 b) { return b << (a & 31); }>},
      {"V_LSHRREV_B32", lanes<[](u32 a, u32 b) { return (b >> (a & 31)); }>},
      {"V_ASHRREV_I32", lanes<[](u32 a, i32 b) { return (b >> (a & 31)); }>},
      {"V_LSHLREV_B64", lanes<[](u32 a, u64 b) { return b << (a & 63); }>, Flow::carryUp},
      {"V_LSHRREV_B64", lanes<[](u32 a, u64 b) { return (b >> (a & 63)); }>, Flow::carryDown},
      {"V_ASHRREV_I64", lanes<[](u32 a, i64 b) { return (b >> (a & 63)); }>, Flow::carryDown},
      {"V_LSHL_ADD_U32", lanes<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }>},
      {"V_LSHL_ADD_U64", lanes<[](u64 a, u32 b, u64 c) { return (a << (b & 7)) + c; }>,
       Flow::carryUp},
      {"V_ADD_LSHL_U32", lanes<[](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }>},
      {"V_LSHL_OR_B32", lanes<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) | c; }>},

      {"V_ADD_U32", addLike<[](u32 a, u32 b) { return a + b; }, sum2>},
      {"V_SUB_U32", addLike<[](u32 a, u32 b) { return a - b; }, difference>},
      {"V_SUBREV_U32", addLike<[](u32 a, u32 b) { return b - a; }, differenceBack>},
      {"V_ADD_I32", sumOf<i32, sum2, i32, i32>},
      {"V_SUB_I32", sumOf<i32, difference, i32, i32>},
      {"V_ADD3_U32", lanes<[](u32 a, u32 b, u32 c) { return a + b + c; }>},
      {"V_ADD_CO_U32", lanes<[](u32 a, u32 b) { return WithCarry{a + b, a + b < a}; }>},
      {"V_SUB_CO_U32", lanes<[](u32 a, u32 b) { return WithCarry{a - b, a < b}; }>},
      {"V_SUBREV_CO_U32", lanes<[](u32 a, u32 b) { return WithCarry{b - a, b < a}; }>},
      {"V_ADDC_CO_U32", lanes<[](u32 a, u32 b, Bit c) {
         const u64 sum = static_cast<u64>(a) + b + c.set;
         return WithCarry{static_cast<u32>(sum), (sum >> 32) != 0};
       }>},
      {"V_SUBB_CO_U32", lanes<[](u32 a, u32 b, Bit c) {
         return WithCarry{a - b - c.set, a < static_cast<u64>(b) + c.set};
       }>},
      {"V_SUBBREV_CO_U32", lanes<[](u32 a, u32 b, Bit c) {
         return WithCarry{b - a - c.set, b < static_cast<u64>(a) + c.set};
       }>},
      {"V_MUL_LO_U32", lanes<[](u32 a, u32 b) { return a * b; }>},
      {"V_MUL_HI_U32", lanes<[](u32 a, u32 b) { return highProduct(a, b); }>},
      {"V_MUL_HI_I32", lanes<[](i32 a, i32 b) { return highProduct(a, b); }>},
      {"V_MUL_U32_U24", addLike<[](u32 a, u32 b) { return unsigned24(a) * unsigned24(b); },
                                [](i64 a, i64 b) { return (a & 0xffffff) * (b & 0xffffff); }>},
      {"V_MUL_I32_I24", addLike<[](i32 a, i32 b) {
         return static_cast<i32>(static_cast<u32>(signed24(static_cast<u32>(a))) *
                                 static_cast<u32>(signed24(static_cast<u32>(b))));
       },
                                [](i64 a, i64 b) { return exact24(a) * exact24(b); }>},
      {"V_MUL_HI_U32_U24",
       lanes<[](u32 a, u32 b) { return highProduct(unsigned24(a), unsigned24(b)); }>},
      {"V_MUL_HI_I32_I24",
       lanes<[](u32 a, u32 b) { return highProduct(signed24(a), signed24(b)); }>},
      {"V_MAD_U32_U24",
       addLike<[](u32 a, u32 b, u32 c) { return unsigned24(a) * unsigned24(b) + c; },
               [](i64 a, i64 b, i64 c) { return (a & 0xffffff) * (b & 0xffffff) + c; }>},
      {"V_MAD_I32_I24", addLike<[](i32 a, i32 b, i32 c) {
         return static_cast<i32>(static_cast<u32>(signed24(static_cast<u32>(a))) *
                                     static_cast<u32>(signed24(static_cast<u32>(b))) +
                                 static_cast<u32>(c));
       },
                                [](i64 a, i64 b, i64 c) { return exact24(a) * exact24(b) + c; }>},
      {"V_MAD_U32_U16", sumOf<u32, productSum, u16, u16, u32>},
      {"V_MAD_I32_I16", sumOf<i32, productSum, i16, i16, i32>},
      {"V_MAD_U64_U32", mad64<u32, u64>, Flow::carryUp},
      {"V_MAD_I64_I32", mad64<i32, i64>, Flow::carryUp},
      {"V_SAD_U8",
       addLike<[](u32 a, u32 b, u32 c) { return byteDifferences(a, b, false) + c; },
               [](i64 a, i64 b, i64 c) {
                 return byteDifferences(static_cast<u32>(a), static_cast<u32>(b), false) + c;
               }>},
      {"V_MSAD_U8",
       addLike<[](u32 a, u32 b, u32 c) { return byteDifferences(a, b, true) + c; },
               [](i64 a, i64 b, i64 c) {
                 return byteDifferences(static_cast<u32>(a), static_cast<u32>(b), true) + c;
               }>},
      {"V_SAD_HI_U8",
       addLike<[](u32 a, u32 b, u32 c) { return (byteDifferences(a, b, false) << 16) + c; },
               [](i64 a, i64 b, i64 c) {
                 return (static_cast<i64>(
                             byteDifferences(static_cast<u32>(a), static_cast<u32>(b), false))
                         << 16) +
                        c;
               }>},
      {"V_SAD_U16", addLike<[](u32 a, u32 b, u32 c) { return halfDifferences(a, b) + c; },
                            [](i64 a, i64 b, i64 c) {
                              return halfDifferences(static_cast<u32>(a), static_cast<u32>(b)) + c;
                            }>},
      {"V_SAD_U32", addLike<[](u32 a, u32 b, u32 c) { return ((a > b) ? a - b : b - a) + c; },
                            [](i64 a, i64 b, i64 c) { return std::abs(a - b) + c; }>},
      {"V_QSAD_PK_U16_U8",
       lanes<[](u64 a, u32 b, u64 c) { return windowDifferences<false>(a, b, c); }>},
      {"V_MQSAD_PK_U16_U8",
       lanes<[](u64 a, u32 b, u64 c) { return windowDifferences<true>(a, b, c); }>},
      {"V_MQSAD_U32_U8", maskedWindows},
      {"V_LERP_U8", lanes<[](u32 a, u32 b, u32 c) { return averageBytes(a, b, c); }>},
      {"V_ASHR_PK_I8_I32",
       lanes<[](i32 a, i32 b, u32 c) { return shiftedBytes<std::int8_t>(a, b, c); }>},
      {"V_ASHR_PK_U8_I32", lanes<[](i32 a, i32 b, u32 c) { return shiftedBytes<u8>(a, b, c); }>},
      {"V_SAT_PK_U8_I16", lanes<[](u32 a) { return saturateHalves(a); }>},
      {"V_PRNG_B32", lanes<[](u32 a) { return nextRandom(a); }>},
      {"V_PACK_B32_F16",
       lanes<[](Half a, Half b) { return a.bits | static_cast<u32>(b.bits) << 16; }>},

      {"V_MIN_U32", lanes<[](u32 a, u32 b) { return std::min(a, b); }>},
      {"V_MAX_U32", lanes<[](u32 a, u32 b) { return std::max(a, b); }>},
      {"V_MIN_I32", lanes<[](i32 a, i32 b) { return std::min(a, b); }>},
      {"V_MAX_I32", lanes<[](i32 a, i32 b) { return std::max(a, b); }>},
      {"V_MIN3_U32", lanes<[](u32 a, u32 b, u32 c) { return std::min(std::min(a, b), c); }>},
      {"V_MAX3_U32", lanes<[](u32 a, u32 b, u32 c) { return std::max(std::max(a, b), c); }>},
      {"V_MED3_U32", lanes<[](u32 a, u32 b, u32 c) { return median(a, b, c); }>},
      {"V_MIN3_I32", lanes<[](i32 a, i32 b, i32 c) { return std::min(std::min(a, b), c); }>},
      {"V_MAX3_I32", lanes<[](i32 a, i32 b, i32 c) { return std::max(std::max(a, b), c); }>},
      {"V_MED3_I32", lanes<[](i32 a, i32 b, i32 c) { return median(a, b, c); }>},

      {"V_ADD_U16", sumOf<u16, sum2, u16, u16>},
      {"V_SUB_U16", sumOf<u16, difference, u16, u16>},
      {"V_SUBREV_U16", sumOf<u16, differenceBack, u16, u16>},
      {"V_ADD_I16", sumOf<i16, sum2, i16, i16>},
      {"V_SUB_I16", sumOf<i16, difference, i16, i16>},
      {"V_MUL_LO_U16", lanes<[](u16 a, u16 b) { return static_cast<u16>(u32{a} * b); }>},
      {"V_MAD_U16", sumOf<u16, productSum, u16, u16, u16>},
      {"V_MAD_LEGACY_U16", sumOf<u16, productSum, u16, u16, u16>},
      {"V_MAD_I16", sumOf<i16, productSum, i16, i16, i16>},
      {"V_MAD_LEGACY_I16", sumOf<i16, productSum, i16, i16, i16>},
      {"V_LSHLREV_B16", lanes<[](u16 a, u16 b) { return static_cast<u16>(b << (a & 15)); }>},
      {"V_LSHRREV_B16", lanes<[](u16 a, u16 b) { return static_cast<u16>((b >> (a & 15))); }>},
      {"V_ASHRREV_I16", lanes<[](u16 a, i16 b) { return static_cast<i16>((b >> (a & 15))); }>},
      {"V_MIN_U16", lanes<[](u16 a, u16 b) { return std::min(a, b); }>},
      {"V_MAX_U16", lanes<[](u16 a, u16 b) { return std::max(a, b); }>},
      {"V_MIN_I16", lanes<[](i16 a, i16 b) { return std::min(a, b); }>},
      {"V_MAX_I16", lanes<[](i16 a, i16 b) { return std::max(a, b); }>},
      {"V_MIN3_U16", lanes<[](u16 a, u16 b, u16 c) { return std::min(std::min(a, b), c); }>},
      {"V_MAX3_U16", lanes<[](u16 a, u16 b, u16 c) { return std::max(std::max(a, b), c); }>},
      {"V_MED3_U16", lanes<[](u16 a, u16 b, u16 c) { return median(a, b, c); }>},
      {"V_MIN3_I16", lanes<[](i16 a, i16 b, i16 c) { return std::min(std::min(a, b), c); }>},
      {"V_MAX3_I16", lanes<[](i16 a, i16 b, i16 c) { return std::max(std::max(a, b), c); }>},
      {"V_MED3_I16", lanes<[](i16 a, i16 b, i16 c) { return median(a, b, c); }>},
  };
  return rows;
}

} // namespace kw::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kw::detail {
HWY_EXPORT(integerRows);
std::span<const Semantics> integerTable() { return HWY_DYNAMIC_DISPATCH(integerRows)(); }
} // namespace kw::detail
#endif
