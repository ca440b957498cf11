// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SALU: SOP1, SOP2, SOPC, SOPK. A lambda's arguments say where they come from: u32/u64 the next
// source, Scc, Konst (the 16-bit immediate), Old (the destination before); its result what is set.
// Right shifts in parentheses: see Integer.cpp.
#include "runtime/emulator/Wave.h"
#include "runtime/emulator/semantics/Numbers.h"
#include "runtime/emulator/semantics/Semantics.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <type_traits>

namespace kw::detail {

namespace {

struct Scc {
  bool set;
};
struct Konst {
  i32 value;
};
struct Old {
  u32 value;
};
struct Old64 {
  u64 value;
};
template <class T> struct WithScc {
  T value;
  bool scc;
};
/// SCC = result is not zero.
template <class T> WithScc<T> flagged(T value) { return {value, value != 0}; }

template <class A> A argument(const Wave &wave, const Op &op, int &next) {
  if constexpr (std::is_same_v<A, Scc>) {
    return Scc{wave.scc};
  } else if constexpr (std::is_same_v<A, Konst>) {
    return Konst{static_cast<i16>(op.imm)};
  } else if constexpr (std::is_same_v<A, Old>) {
    return Old{wave.sgpr[op.result[0].reg]};
  } else if constexpr (std::is_same_v<A, Old64>) {
    return Old64{wave.scalar64(op.result[0].reg)};
  } else if constexpr (sizeof(A) == 8) {
    return static_cast<A>(wave.scalarOperand64(op.source[next++]));
  } else {
    return static_cast<A>(wave.scalarOperand(op.source[next++]));
  }
}

template <class T> void store(Wave &wave, const Op &op, T value) {
  if constexpr (sizeof(T) == 8) {
    wave.writeScalar64(op.result[0], static_cast<u64>(value));
  } else {
    wave.writeScalar(op.result[0], static_cast<u32>(value));
  }
}
template <class T> void setResult(Wave &wave, const Op &op, T value) { store(wave, op, value); }
void setResult(Wave &wave, const Op &, bool value) { wave.scc = value; }
template <class T> void setResult(Wave &wave, const Op &op, WithScc<T> result) {
  store(wave, op, result.value);
  wave.scc = result.scc;
}

template <auto F> void scalar(Wave &wave, const Op &op) {
  [&]<class R, class... A>(R (*function)(A...)) {
    int next = 0;
    // Braces: arguments are taken in order.
    const std::tuple<A...> arguments{argument<A>(wave, op, next)...};
    setResult(wave, op, std::apply(function, arguments));
  }(+F);
}

/// D = EXEC; EXEC = F(S0, EXEC); SCC = EXEC is not zero.
template <auto F> void saveExec(Wave &wave, const Op &op) {
  const u64 source = wave.scalarOperand64(op.source[0]), exec = wave.exec();
  wave.writeScalar64(op.result[0], exec);
  wave.setScalar64(scalarReg::exec, F(source, exec));
  wave.scc = wave.exec() != 0;
}

u32 bitField(u32 x, u32 control) {
  const u32 offset = control & 31, width = control >> 16 & 127;
  const u32 part = x >> offset;
  return width == 0 ? 0 : width >= 32 ? part : part & ((1u << width) - 1);
}
u32 signedBitField(u32 x, u32 control) {
  const u32 offset = control & 31, width = std::min(control >> 16 & 127, 32 - offset);
  return width == 0 ? 0
                    : static_cast<u32>(static_cast<i32>(x << (32 - offset - width)) >>
                                       (32 - static_cast<i32>(width)));
}
u64 bitField64(u64 x, u32 control) {
  const u32 offset = control & 63, width = control >> 16 & 127;
  const u64 part = x >> offset;
  return width == 0 ? 0 : width >= 64 ? part : part & ((u64{1} << width) - 1);
}
u64 signedBitField64(u64 x, u32 control) {
  const u32 offset = control & 63, width = std::min(control >> 16 & 127, 64 - offset);
  return width == 0 ? 0
                    : static_cast<u64>(static_cast<i64>(x << (64 - offset - width)) >>
                                       (64 - static_cast<i32>(width)));
}
WithScc<u32> addSigned(u32 a, u32 b) {
  const u32 sum = a + b;
  return {sum, static_cast<bool>((~(a ^ b) & (a ^ sum)) >> 31)};
}
WithScc<u32> subSigned(u32 a, u32 b) {
  const u32 difference = a - b;
  return {difference, static_cast<bool>(((a ^ b) & (a ^ difference)) >> 31)};
}
WithScc<u32> shiftAdd(u32 a, u32 b, int by) {
  const u64 sum = (static_cast<u64>(a) << by) + b;
  return {static_cast<u32>(sum), (sum >> 32) != 0};
}
WithScc<u32> magnitude(u32 a) { return flagged(static_cast<i32>(a) < 0 ? 0 - a : a); }
u32 reversed(u32 x) {
  u32 result = 0;
  for (int i = 0; i < 32; ++i) {
    result |= (x >> i & 1) << (31 - i);
  }
  return result;
}
u64 reversed64(u64 x) {
  return static_cast<u64>(reversed(static_cast<u32>(x))) << 32 |
         reversed(static_cast<u32>(x >> 32));
}
/// Leading bits equal to the sign, or -1 if all are.
i32 signBits(u32 x) {
  const u32 folded = static_cast<i32>(x) < 0 ? ~x : x;
  return folded == 0 ? -1 : std::countl_zero(folded);
}
i32 firstOne(u64 x) { return x == 0 ? -1 : std::countr_zero(x); }
u32 countedZeros(u32 x) { return 32 - static_cast<u32>(std::popcount(x)); }
u32 wholeQuads32(u32 x) {
  u32 result = 0;
  for (int i = 0; i < 32; i += 4) {
    result |= x >> i & 15 ? 15u << i : 0;
  }
  return result;
}
u64 wholeQuads(u64 x) {
  return wholeQuads32(static_cast<u32>(x)) |
         static_cast<u64>(wholeQuads32(static_cast<u32>(x >> 32))) << 32;
}
u32 konstU(Konst k) { return static_cast<u16>(k.value); }

} // namespace

std::span<const Semantics> scalarTable() {
  static const Semantics rows[] = {
      // SOP1
      {"S_MOV_B32", scalar<[](u32 a) { return a; }>, Flow::bits},
      {"S_MOV_B64", scalar<[](u64 a) { return a; }>, Flow::bits},
      {"S_CMOV_B32", scalar<[](u32 a, Old d, Scc c) { return c.set ? a : d.value; }>,
       Flow::accumulate},
      {"S_CMOV_B64", scalar<[](u64 a, Old64 d, Scc c) { return c.set ? a : d.value; }>,
       Flow::accumulate},
      {"S_NOT_B32", scalar<[](u32 a) { return flagged(~a); }>, Flow::bits},
      {"S_NOT_B64", scalar<[](u64 a) { return flagged(~a); }>, Flow::bits},
      {"S_WQM_B32", scalar<[](u32 a) { return flagged(wholeQuads32(a)); }>},
      {"S_WQM_B64", scalar<[](u64 a) { return flagged(wholeQuads(a)); }>},
      {"S_BREV_B32", scalar<[](u32 a) { return reversed(a); }>},
      {"S_BREV_B64", scalar<[](u64 a) { return reversed64(a); }>},
      {"S_BCNT0_I32_B32", scalar<[](u32 a) { return flagged(countedZeros(a)); }>},
      {"S_BCNT1_I32_B32",
       scalar<[](u32 a) { return flagged(static_cast<u32>(std::popcount(a))); }>},
      {"S_BCNT1_I32_B64",
       scalar<[](u64 a) { return flagged(static_cast<u32>(std::popcount(a))); }>},
      {"S_FF1_I32_B32", scalar<[](u32 a) { return firstOne(a); }>},
      {"S_FF1_I32_B64", scalar<[](u64 a) { return firstOne(a); }>},
      {"S_FF0_I32_B32", scalar<[](u32 a) { return firstOne(static_cast<u32>(~a)); }>},
      {"S_FF0_I32_B64", scalar<[](u64 a) { return firstOne(~a); }>},
      {"S_FLBIT_I32_B32", scalar<[](u32 a) { return a == 0 ? -1 : std::countl_zero(a); }>},
      {"S_FLBIT_I32_B64", scalar<[](u64 a) { return a == 0 ? -1 : std::countl_zero(a); }>},
      {"S_FLBIT_I32", scalar<[](u32 a) { return signBits(a); }>},
      {"S_SEXT_I32_I8",
       scalar<[](u32 a) { return static_cast<i32>(static_cast<std::int8_t>(a)); }>},
      {"S_SEXT_I32_I16", scalar<[](u32 a) { return static_cast<i32>(static_cast<i16>(a)); }>},
      {"S_BITSET0_B32", scalar<[](u32 a, Old d) { return d.value & ~(1u << (a & 31)); }>,
       Flow::accumulate},
      {"S_BITSET1_B32", scalar<[](u32 a, Old d) { return d.value | 1u << (a & 31); }>,
       Flow::accumulate},
      {"S_BITSET0_B64", scalar<[](u32 a, Old64 d) { return d.value & ~(u64{1} << (a & 63)); }>,
       Flow::accumulate},
      {"S_BITSET1_B64", scalar<[](u32 a, Old64 d) { return d.value | u64{1} << (a & 63); }>,
       Flow::accumulate},
      {"S_ABS_I32", scalar<[](u32 a) { return magnitude(a); }>},
      {"S_AND_SAVEEXEC_B64", saveExec<[](u64 a, u64 e) { return a & e; }>, Flow::bitAnd},
      {"S_OR_SAVEEXEC_B64", saveExec<[](u64 a, u64 e) { return a | e; }>, Flow::bitOr},
      {"S_XOR_SAVEEXEC_B64", saveExec<[](u64 a, u64 e) { return a ^ e; }>},
      {"S_ANDN2_SAVEEXEC_B64", saveExec<[](u64 a, u64 e) { return a & ~e; }>, Flow::bitAndNot},
      {"S_ORN2_SAVEEXEC_B64", saveExec<[](u64 a, u64 e) { return a | ~e; }>},
      {"S_ANDN1_SAVEEXEC_B64", saveExec<[](u64 a, u64 e) { return ~a & e; }>},
      {"S_NAND_SAVEEXEC_B64", saveExec<[](u64 a, u64 e) { return ~(a & e); }>, Flow::bitAnd},

      // SOP2
      {"S_ADD_U32", scalar<[](u32 a, u32 b) { return WithScc<u32>{a + b, a + b < a}; }>},
      {"S_SUB_U32", scalar<[](u32 a, u32 b) { return WithScc<u32>{a - b, a < b}; }>},
      {"S_ADD_I32", scalar<[](u32 a, u32 b) { return addSigned(a, b); }>},
      {"S_SUB_I32", scalar<[](u32 a, u32 b) { return subSigned(a, b); }>},
      {"S_ADDC_U32", scalar<[](u32 a, u32 b, Scc c) {
         const u64 sum = static_cast<u64>(a) + b + c.set;
         return WithScc<u32>{static_cast<u32>(sum), (sum >> 32) != 0};
       }>},
      {"S_SUBB_U32", scalar<[](u32 a, u32 b, Scc c) {
         return WithScc<u32>{a - b - c.set, a < static_cast<u64>(b) + c.set};
       }>},
      {"S_MIN_I32", scalar<[](i32 a, i32 b) { return WithScc<i32>{std::min(a, b), a < b}; }>},
      {"S_MIN_U32", scalar<[](u32 a, u32 b) { return WithScc<u32>{std::min(a, b), a < b}; }>},
      {"S_MAX_I32", scalar<[](i32 a, i32 b) { return WithScc<i32>{std::max(a, b), a >= b}; }>},
      {"S_MAX_U32", scalar<[](u32 a, u32 b) { return WithScc<u32>{std::max(a, b), a >= b}; }>},
      {"S_CSELECT_B32", scalar<[](u32 a, u32 b, Scc c) { return c.set ? a : b; }>, Flow::select},
      {"S_CSELECT_B64", scalar<[](u64 a, u64 b, Scc c) { return c.set ? a : b; }>, Flow::select},
      {"S_AND_B32", scalar<[](u32 a, u32 b) { return flagged(a & b); }>, Flow::bitAnd},
      {"S_AND_B64", scalar<[](u64 a, u64 b) { return flagged(a & b); }>, Flow::bitAnd},
      {"S_OR_B32", scalar<[](u32 a, u32 b) { return flagged(a | b); }>, Flow::bitOr},
      {"S_OR_B64", scalar<[](u64 a, u64 b) { return flagged(a | b); }>, Flow::bitOr},
      {"S_XOR_B32", scalar<[](u32 a, u32 b) { return flagged(a ^ b); }>, Flow::bits},
      {"S_XOR_B64", scalar<[](u64 a, u64 b) { return flagged(a ^ b); }>, Flow::bits},
      {"S_ANDN2_B32", scalar<[](u32 a, u32 b) { return flagged(a & ~b); }>, Flow::bitAndNot},
      {"S_ANDN2_B64", scalar<[](u64 a, u64 b) { return flagged(a & ~b); }>, Flow::bitAndNot},
      {"S_ORN2_B32", scalar<[](u32 a, u32 b) { return flagged(a | ~b); }>},
      {"S_ORN2_B64", scalar<[](u64 a, u64 b) { return flagged(a | ~b); }>},
      {"S_NAND_B32", scalar<[](u32 a, u32 b) { return flagged(~(a & b)); }>, Flow::bitAnd},
      {"S_NAND_B64", scalar<[](u64 a, u64 b) { return flagged(~(a & b)); }>, Flow::bitAnd},
      {"S_NOR_B32", scalar<[](u32 a, u32 b) { return flagged(~(a | b)); }>, Flow::bitOr},
      {"S_NOR_B64", scalar<[](u64 a, u64 b) { return flagged(~(a | b)); }>, Flow::bitOr},
      {"S_XNOR_B32", scalar<[](u32 a, u32 b) { return flagged(~(a ^ b)); }>, Flow::bits},
      {"S_XNOR_B64", scalar<[](u64 a, u64 b) { return flagged(~(a ^ b)); }>, Flow::bits},
      {"S_LSHL_B32", scalar<[](u32 a, u32 b) { return flagged(a << (b & 31)); }>},
      {"S_LSHL_B64", scalar<[](u64 a, u32 b) { return flagged(a << (b & 63)); }>, Flow::carryUp},
      {"S_LSHR_B32", scalar<[](u32 a, u32 b) { return flagged((a >> (b & 31))); }>},
      {"S_LSHR_B64", scalar<[](u64 a, u32 b) { return flagged((a >> (b & 63))); }>,
       Flow::carryDown},
      {"S_ASHR_I32", scalar<[](i32 a, u32 b) { return flagged((a >> (b & 31))); }>},
      {"S_ASHR_I64", scalar<[](i64 a, u32 b) { return flagged((a >> (b & 63))); }>,
       Flow::carryDown},
      {"S_BFM_B32", scalar<[](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }>},
      {"S_BFM_B64", scalar<[](u32 a, u32 b) { return ((u64{1} << (a & 63)) - 1) << (b & 63); }>},
      {"S_BFE_U32", scalar<[](u32 a, u32 b) { return flagged(bitField(a, b)); }>},
      {"S_BFE_I32", scalar<[](u32 a, u32 b) { return flagged(signedBitField(a, b)); }>},
      {"S_BFE_U64", scalar<[](u64 a, u32 b) { return flagged(bitField64(a, b)); }>},
      {"S_BFE_I64", scalar<[](u64 a, u32 b) { return flagged(signedBitField64(a, b)); }>},
      {"S_MUL_I32", scalar<[](u32 a, u32 b) { return a * b; }>},
      {"S_MUL_HI_U32",
       scalar<[](u32 a, u32 b) { return static_cast<u32>((static_cast<u64>(a) * b >> 32)); }>},
      {"S_MUL_HI_I32",
       scalar<[](i32 a, i32 b) { return static_cast<u32>((static_cast<i64>(a) * b >> 32)); }>},
      {"S_LSHL1_ADD_U32", scalar<[](u32 a, u32 b) { return shiftAdd(a, b, 1); }>},
      {"S_LSHL2_ADD_U32", scalar<[](u32 a, u32 b) { return shiftAdd(a, b, 2); }>},
      {"S_LSHL3_ADD_U32", scalar<[](u32 a, u32 b) { return shiftAdd(a, b, 3); }>},
      {"S_LSHL4_ADD_U32", scalar<[](u32 a, u32 b) { return shiftAdd(a, b, 4); }>},
      {"S_ABSDIFF_I32", scalar<[](u32 a, u32 b) {
         return flagged(static_cast<i32>(a) < static_cast<i32>(b) ? b - a : a - b);
       }>},
      {"S_PACK_LL_B32_B16", scalar<[](u32 a, u32 b) { return (a & 0xffff) | b << 16; }>},
      {"S_PACK_LH_B32_B16", scalar<[](u32 a, u32 b) { return (a & 0xffff) | (b & 0xffff0000); }>},
      {"S_PACK_HH_B32_B16", scalar<[](u32 a, u32 b) { return (a >> 16) | (b & 0xffff0000); }>},

      // SOPC
      {"S_CMP_EQ_I32", scalar<[](i32 a, i32 b) { return a == b; }>},
      {"S_CMP_LG_I32", scalar<[](i32 a, i32 b) { return a != b; }>},
      {"S_CMP_GT_I32", scalar<[](i32 a, i32 b) { return (a > b); }>},
      {"S_CMP_GE_I32", scalar<[](i32 a, i32 b) { return a >= b; }>},
      {"S_CMP_LT_I32", scalar<[](i32 a, i32 b) { return a < b; }>},
      {"S_CMP_LE_I32", scalar<[](i32 a, i32 b) { return a <= b; }>},
      {"S_CMP_EQ_U32", scalar<[](u32 a, u32 b) { return a == b; }>},
      {"S_CMP_LG_U32", scalar<[](u32 a, u32 b) { return a != b; }>},
      {"S_CMP_GT_U32", scalar<[](u32 a, u32 b) { return (a > b); }>},
      {"S_CMP_GE_U32", scalar<[](u32 a, u32 b) { return a >= b; }>},
      {"S_CMP_LT_U32", scalar<[](u32 a, u32 b) { return a < b; }>},
      {"S_CMP_LE_U32", scalar<[](u32 a, u32 b) { return a <= b; }>},
      {"S_CMP_EQ_U64", scalar<[](u64 a, u64 b) { return a == b; }>},
      {"S_CMP_LG_U64", scalar<[](u64 a, u64 b) { return a != b; }>},
      {"S_BITCMP0_B32", scalar<[](u32 a, u32 b) { return (a & 1u << (b & 31)) == 0; }>},
      {"S_BITCMP1_B32", scalar<[](u32 a, u32 b) { return (a & 1u << (b & 31)) != 0; }>},
      {"S_BITCMP0_B64", scalar<[](u64 a, u32 b) { return (a & u64{1} << (b & 63)) == 0; }>},
      {"S_BITCMP1_B64", scalar<[](u64 a, u32 b) { return (a & u64{1} << (b & 63)) != 0; }>},

      // SOPK
      {"S_MOVK_I32", scalar<[](Konst k) { return k.value; }>},
      {"S_CMOVK_I32",
       scalar<[](Konst k, Old d, Scc c) { return c.set ? static_cast<u32>(k.value) : d.value; }>,
       Flow::accumulate},
      {"S_ADDK_I32",
       scalar<[](Konst k, Old d) { return addSigned(d.value, static_cast<u32>(k.value)); }>,
       Flow::accumulate},
      {"S_MULK_I32", scalar<[](Konst k, Old d) { return d.value * static_cast<u32>(k.value); }>,
       Flow::accumulate},
      {"S_CMPK_EQ_I32", scalar<[](i32 a, Konst k) { return a == k.value; }>},
      {"S_CMPK_LG_I32", scalar<[](i32 a, Konst k) { return a != k.value; }>},
      {"S_CMPK_GT_I32", scalar<[](i32 a, Konst k) { return (a > k.value); }>},
      {"S_CMPK_GE_I32", scalar<[](i32 a, Konst k) { return a >= k.value; }>},
      {"S_CMPK_LT_I32", scalar<[](i32 a, Konst k) { return a < k.value; }>},
      {"S_CMPK_LE_I32", scalar<[](i32 a, Konst k) { return a <= k.value; }>},
      {"S_CMPK_EQ_U32", scalar<[](u32 a, Konst k) { return a == konstU(k); }>},
      {"S_CMPK_LG_U32", scalar<[](u32 a, Konst k) { return a != konstU(k); }>},
      {"S_CMPK_GT_U32", scalar<[](u32 a, Konst k) { return (a > konstU(k)); }>},
      {"S_CMPK_GE_U32", scalar<[](u32 a, Konst k) { return a >= konstU(k); }>},
      {"S_CMPK_LT_U32", scalar<[](u32 a, Konst k) { return a < konstU(k); }>},
      {"S_CMPK_LE_U32", scalar<[](u32 a, Konst k) { return a <= konstU(k); }>},
  };
  return rows;
}

} // namespace kw::detail
