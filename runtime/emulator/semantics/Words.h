// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One lane's bytes in memory and in registers, by MemoryType.
#pragma once

#include "runtime/emulator/Wave.h"
#include "runtime/emulator/semantics/Numbers.h"

#include <cstring>

namespace kw::detail {

/// Puts `count` loaded bytes into lane `lane` of the destination.
inline void putLoaded(Wave &wave, const Op &op, int first, int lane, const u8 *bytes,
                      unsigned count) {
  if (op.memoryType == MemoryType::dwords) {
    for (unsigned word = 0; word < count / 4; ++word) {
      std::memcpy(&wave.vgpr[first + word][lane], bytes + 4 * word, 4);
    }
    return;
  }
  u32 raw = 0;
  std::memcpy(&raw, bytes, count);
  u32 &to = wave.vgpr[first][lane];
  const u32 extended = static_cast<u32>(static_cast<i32>(raw << (32 - 8 * count)) >>
                                        (32 - static_cast<int>(8 * count)));
  switch (op.memoryType) {
  case MemoryType::signExtend:
    to = extended;
    break;
  case MemoryType::d16:
  case MemoryType::d16ZeroExtend:
    to = (to & 0xffff0000) | raw;
    break;
  case MemoryType::d16Hi:
  case MemoryType::d16HiZeroExtend:
    to = (to & 0xffff) | raw << 16;
    break;
  case MemoryType::d16SignExtend:
    to = (to & 0xffff0000) | (extended & 0xffff);
    break;
  case MemoryType::d16HiSignExtend:
    to = (to & 0xffff) | extended << 16;
    break;
  default:
    to = raw;
  }
}

/// The bytes that lane `lane` stores.
inline void takeStored(const Wave &wave, const Op &op, int first, int lane, u8 *bytes,
                       unsigned count) {
  if (op.memoryType == MemoryType::dwords) {
    for (unsigned word = 0; word < count / 4; ++word) {
      std::memcpy(bytes + 4 * word, &wave.vgpr[first + word][lane], 4);
    }
    return;
  }
  const u32 raw = wave.vgpr[first][lane] >> (op.memoryType == MemoryType::d16Hi ? 16 : 0);
  std::memcpy(bytes, &raw, count);
}

} // namespace kw::detail
