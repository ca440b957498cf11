// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// buffer_atomic_*, global_atomic_*, flat_atomic_*.
#include "runtime/emulator/Checker.h"
#include "runtime/emulator/Workgroup.h"
#include "runtime/emulator/semantics/Places.h"
#include "runtime/emulator/semantics/Semantics.h"
#include "runtime/emulator/semantics/Words.h"

#include <algorithm>
#include <bit>
#include <fmt/core.h>

namespace kw::detail {

namespace {

template <class T> T operandOf(const Wave &wave, int reg, int lane) {
  u64 bits = wave.vgpr[reg][lane];
  if constexpr (sizeof(T) == 8) {
    bits |= static_cast<u64>(wave.vgpr[reg + 1][lane]) << 32;
    return std::bit_cast<T>(bits);
  } else {
    return std::bit_cast<T>(static_cast<u32>(bits));
  }
}

/// F(memory, data, compare) is what memory becomes. Data and compare of cmpswap lie in this order.
/// Flat addresses of LDS are not taken.
template <class T, auto F> void atomic(Wave &wave, const Op &op) {
  Places places;
  place(wave, op, sizeof(T), places);
  const int data = op.source[3].reg;
  if (wave.strict()) {
    const u64 bad = places.lanes & ~definedLanes(wave, op.source[3]);
    if (bad != 0) {
      reportUndefined(wave, op, op.source[3], bad, "the atomic's operand");
    }
  }
  for (int l = 0; l < laneCount; ++l) {
    if (!(places.lanes >> l & 1)) {
      continue;
    }
    T memory{};
    if (places.inside(l, 0, sizeof(T))) {
      const GlobalSpan at = globalSpan(wave, op, l, places.address(l), sizeof(T), true);
      if (at.host) {
        at.note(wave, op, l, sizeof(T));
        std::memcpy(&memory, at.host, sizeof(T));
        if (!at.isInitialised(0, sizeof(T))) {
          wave.report(FindingKind::uninitialisedRead, op, l,
                      "atomic on memory that nothing has written");
        }
        const T compare =
            op.source[3].words * 4u > sizeof(T) ? operandOf<T>(wave, data + sizeof(T) / 4, l) : T{};
        const T result = F(memory, operandOf<T>(wave, data, l), compare);
        wave.group->advances += std::memcmp(&result, &memory, sizeof(T)) != 0;
        std::memcpy(at.host, &result, sizeof(T));
        at.markInitialised(0, sizeof(T));
      }
    }
    if (op.glc && op.resultCount > 0) {
      u32 words[sizeof(T) / 4];
      std::memcpy(words, &memory, sizeof(T));
      for (std::size_t word = 0; word < sizeof(T) / 4; ++word) {
        wave.vgpr[op.result[0].reg + word][l] = words[word];
      }
    }
  }
  if (op.glc && op.resultCount > 0) {
    setLoadedValid(wave, op, sizeof(T) / 4, places.lanes, allLanes);
  }
}

} // namespace

#define KW_ATOMIC(VERB, T, EXPRESSION)                                                             \
  {"BUFFER_ATOMIC_" VERB, atomic<T, []([[maybe_unused]] T m, [[maybe_unused]] T d,                 \
                                       [[maybe_unused]] T c) { return T(EXPRESSION); }>},          \
      {"GLOBAL_ATOMIC_" VERB, atomic<T, []([[maybe_unused]] T m, [[maybe_unused]] T d,             \
                                           [[maybe_unused]] T c) { return T(EXPRESSION); }>},      \
  {                                                                                                \
    "FLAT_ATOMIC_" VERB, atomic<T, []([[maybe_unused]] T m, [[maybe_unused]] T d,                  \
                                      [[maybe_unused]] T c) { return T(EXPRESSION); }>             \
  }

std::span<const Semantics> vectorAtomicTable() {
  static const Semantics rows[] = {
      KW_ATOMIC("SWAP", u32, d),
      KW_ATOMIC("CMPSWAP", u32, (m == c ? d : m)),
      KW_ATOMIC("ADD", u32, m + d),
      KW_ATOMIC("SUB", u32, m - d),
      KW_ATOMIC("SMIN", i32, std::min(m, d)),
      KW_ATOMIC("UMIN", u32, std::min(m, d)),
      KW_ATOMIC("SMAX", i32, std::max(m, d)),
      KW_ATOMIC("UMAX", u32, std::max(m, d)),
      KW_ATOMIC("AND", u32, (m & d)),
      KW_ATOMIC("OR", u32, (m | d)),
      KW_ATOMIC("XOR", u32, (m ^ d)),
      KW_ATOMIC("INC", u32, (m >= d ? 0 : m + 1)),
      KW_ATOMIC("DEC", u32, (m == 0 || m > d ? d : m - 1)),
      KW_ATOMIC("SWAP_X2", u64, d),
      KW_ATOMIC("CMPSWAP_X2", u64, (m == c ? d : m)),
      KW_ATOMIC("ADD_X2", u64, m + d),
      KW_ATOMIC("SUB_X2", u64, m - d),
      KW_ATOMIC("SMIN_X2", i64, std::min(m, d)),
      KW_ATOMIC("UMIN_X2", u64, std::min(m, d)),
      KW_ATOMIC("SMAX_X2", i64, std::max(m, d)),
      KW_ATOMIC("UMAX_X2", u64, std::max(m, d)),
      KW_ATOMIC("AND_X2", u64, (m & d)),
      KW_ATOMIC("OR_X2", u64, (m | d)),
      KW_ATOMIC("XOR_X2", u64, (m ^ d)),
      KW_ATOMIC("INC_X2", u64, (m >= d ? 0 : m + 1)),
      KW_ATOMIC("DEC_X2", u64, (m == 0 || m > d ? d : m - 1)),
      KW_ATOMIC("ADD_F32", f32, m + d),
      KW_ATOMIC("ADD_F64", f64, m + d),
      KW_ATOMIC("MIN_F64", f64, std::fmin(m, d)),
      KW_ATOMIC("MAX_F64", f64, std::fmax(m, d)),
      KW_ATOMIC("PK_ADD_F16", u32, addPackedHalf(m, d)),
      KW_ATOMIC("PK_ADD_BF16", u32, addPackedBfloat(m, d)),
  };
  return rows;
}
#undef KW_ATOMIC

} // namespace kw::detail
