// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns a scalar lambda into the handler of a vector instruction: lanes<[](u32 a, u32 b) { return
// a + b; }>. The types of the lambda's arguments say how sources are read (f32 sources take neg and
// abs, Half the low 16 bits, Bit a lane of a scalar mask), the result type how it is written.
// Included once per SIMD target (Highway's foreach_target); GCC vectorises the loops for it.
#if defined(KW_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KW_LANES_INL_H
#undef KW_LANES_INL_H
#else
#define KW_LANES_INL_H
#endif

#include "runtime/emulator/semantics/Fetch.h"
#include "runtime/emulator/semantics/Semantics.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kw::detail::HWY_NAMESPACE {

/// One bit of a mask: of VCC or an SGPR pair as a source, of a comparison as a result.
struct Bit {
  u32 set;
};
struct WithCarry {
  u32 value;
  bool carry;
};

template <class T> constexpr Type typeOf() {
  if constexpr (std::is_same_v<T, f32>) {
    return Type::f32;
  } else if constexpr (std::is_same_v<T, f64>) {
    return Type::f64;
  } else if constexpr (std::is_same_v<T, Half>) {
    return Type::f16;
  } else if constexpr (std::is_same_v<T, Bfloat>) {
    return Type::bf16;
  } else if constexpr (std::is_same_v<T, u16>) {
    return Type::b16;
  } else if constexpr (std::is_same_v<T, i16>) {
    return Type::i16;
  } else if constexpr (std::is_same_v<T, i32>) {
    return Type::i32;
  } else if constexpr (std::is_same_v<T, u64>) {
    return Type::b64;
  } else if constexpr (std::is_same_v<T, i64>) {
    return Type::i64;
  } else if constexpr (std::is_same_v<T, Bit>) {
    return Type::mask;
  } else {
    return Type::b32;
  }
}

template <class T> KW_INLINE T loadLane(const u32 *lanes, int l) {
  if constexpr (std::is_same_v<T, Bit>) {
    return Bit{lanes[l]};
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<T>(static_cast<u16>(lanes[l]));
  } else if constexpr (sizeof(T) == 8) {
    return std::bit_cast<T>(lanes[l] | static_cast<u64>(lanes[l + laneCount]) << 32);
  } else {
    return std::bit_cast<T>(lanes[l]);
  }
}

template <class T> KW_INLINE void storeLane(u32 *lanes, int l, T x) {
  if constexpr (sizeof(T) == 2) {
    lanes[l] = std::bit_cast<u16>(x);
  } else if constexpr (sizeof(T) == 8) {
    const u64 bits = std::bit_cast<u64>(x);
    lanes[l] = static_cast<u32>(bits);
    lanes[l + laneCount] = static_cast<u32>(bits >> 32);
  } else {
    lanes[l] = std::bit_cast<u32>(x);
  }
}

KW_INLINE void splat(u32 *lanes, u32 x) {
  for (int l = 0; l < laneCount; ++l) {
    lanes[l] = x;
  }
}

template <class T> KW_INLINE const u32 *fetch(Wave &wave, const Op &op, int i, u64 &lanes) {
  if constexpr (std::is_same_v<T, Bit>) {
    const u64 mask = wave.scalarOperand64(op.source[i]);
    const u32 half[2] = {static_cast<u32>(mask), static_cast<u32>(mask >> 32)};
    u32 *out = wave.fetched[2 * i];
    for (int l = 0; l < 32; ++l) {
      out[l] = half[0] >> l & 1;
      out[l + 32] = half[1] >> l & 1;
    }
    return out;
  } else {
    if (!op.plainSources || wave.gprIndexMode) [[unlikely]] {
      return fetchModified(wave, op, i, typeOf<T>(), lanes);
    }
    const Operand &operand = op.source[i];
    if (operand.file == File::vector) [[likely]] {
      return wave.vgpr[operand.reg];
    }
    if (operand.file == File::constant) {
      return operand.spread;
    }
    if (operand.file == File::scalar) {
      splat(wave.fetched[2 * i], wave.sgpr[operand.reg]);
      if constexpr (sizeof(T) == 8) {
        splat(wave.fetched[2 * i + 1], wave.sgpr[operand.reg + 1]);
      }
      return wave.fetched[2 * i];
    }
    return fetchRaw(wave, op, i);
  }
}

/// Bit l of the result: lanes[l] != 0 (they are 0 or 1).
KW_INLINE u64 packBits(const u32 *lanes) {
  alignas(64) u8 bytes[laneCount];
  for (int l = 0; l < laneCount; ++l) {
    bytes[l] = static_cast<u8>(lanes[l]);
  }
  u64 mask = 0;
  for (int group = 0; group < 8; ++group) {
    u64 eight;
    std::memcpy(&eight, bytes + 8 * group, 8);
    mask |= (eight * 0x0102040810204080) >> 56 << (8 * group);
  }
  return mask;
}

template <class R> KW_INLINE u32 *resultLanes(Wave &wave, const Op &op, bool direct) {
  return direct ? wave.vgpr[op.result[0].reg] : wave.computed[0];
}

KW_INLINE bool writesDirectly(const Wave &wave, const Op &op, u64 lanes) {
  return lanes == allLanes && op.plainResult && !wave.gprIndexMode;
}

/// Blends wave.computed into the result for 32-bit words and plain forms; the rest is commit().
template <class R> KW_INLINE void finish(Wave &wave, const Op &op, u64 lanes) {
  const bool special = !op.plainResult || sizeof(R) == 2 || wave.gprIndexMode;
  if (special) [[unlikely]] {
    commit(wave, op, lanes, typeOf<R>());
    return;
  }
  const u32 half[2] = {static_cast<u32>(lanes), static_cast<u32>(lanes >> 32)};
  for (int word = 0; word < (sizeof(R) == 8 ? 2 : 1); ++word) {
    u32 *to = wave.vgpr[op.result[0].reg + word];
    const u32 *from = wave.computed[word];
#pragma GCC ivdep
    for (int l = 0; l < 32; ++l) {
      const u32 keep0 = (half[0] >> l & 1) - 1, keep1 = (half[1] >> l & 1) - 1;
      to[l] = (to[l] & keep0) | (from[l] & ~keep0);
      to[l + 32] = (to[l + 32] & keep1) | (from[l + 32] & ~keep1);
    }
  }
}

template <auto F, class R, class... A, std::size_t... I>
KW_INLINE void runLanes(Wave &wave, const Op &op, R (*)(A...), std::index_sequence<I...>) {
  u64 lanes = wave.exec();
  const u32 *const source[] = {fetch<A>(wave, op, I, lanes)..., nullptr};
  // A 16-bit result with op_sel keeps half of the register.
  const bool halfResult = sizeof(R) == 2 && (op.source[0].mods & mod::opSelHi);
  const bool direct = writesDirectly(wave, op, lanes) && !halfResult;
  u32 *out = resultLanes<R>(wave, op, direct);
#pragma GCC ivdep
  for (int l = 0; l < laneCount; ++l) {
    storeLane<R>(out, l, F(loadLane<A>(source[I], l)...));
  }
  if (!direct) {
    finish<R>(wave, op, lanes);
  }
}

template <auto F, class... A, std::size_t... I>
KW_INLINE void runLanes(Wave &wave, const Op &op, WithCarry (*)(A...), std::index_sequence<I...>) {
  u64 lanes = wave.exec();
  const u32 *const source[] = {fetch<A>(wave, op, I, lanes)...};
  alignas(64) u32 carries[laneCount];
  u32 *out = wave.computed[0];
  for (int l = 0; l < laneCount; ++l) {
    const WithCarry result = F(loadLane<A>(source[I], l)...);
    out[l] = result.value;
    carries[l] = result.carry;
  }
  finish<u32>(wave, op, lanes);
  wave.writeScalar64(op.result[1], packBits(carries) & lanes);
}

/// The handler of an instruction whose lanes do not touch each other.
template <auto F> void lanes(Wave &wave, const Op &op) {
  [&]<class R, class... A>(R (*function)(A...)) {
    runLanes<F>(wave, op, function, std::index_sequence_for<A...>());
  }(+F);
}

template <auto F, class... A, std::size_t... I>
KW_INLINE u64 compareLanes(Wave &wave, const Op &op, bool (*)(A...), std::index_sequence<I...>) {
  u64 lanes = wave.exec();
  const u32 *const source[] = {fetch<A>(wave, op, I, lanes)...};
  alignas(64) u32 bits[laneCount];
  for (int l = 0; l < laneCount; ++l) {
    bits[l] = F(loadLane<A>(source[I], l)...);
  }
  return packBits(bits) & lanes;
}

/// V_CMP_*: the mask goes to VCC or an SGPR pair, 0 for inactive lanes.
template <auto F> void compare(Wave &wave, const Op &op) {
  [&]<class... A>(bool (*function)(A...)) {
    const u64 mask = compareLanes<F>(wave, op, function, std::index_sequence_for<A...>());
    wave.writeScalar64(op.result[0], mask);
  }(+F);
}

/// V_CMPX_*: the same, and EXEC.
template <auto F> void compareExec(Wave &wave, const Op &op) {
  compare<F>(wave, op);
  wave.setScalar64(scalarReg::exec, wave.scalarOperand64(op.result[0]));
}

} // namespace kw::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif // per-target guard
