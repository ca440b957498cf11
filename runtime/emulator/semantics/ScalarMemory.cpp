// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// s_load, s_buffer_load, s_store, s_atomic. Addresses are dword aligned by hardware.
#include "runtime/emulator/MemoryAccess.h"
#include "runtime/emulator/Workgroup.h"
#include "runtime/emulator/semantics/Numbers.h"
#include "runtime/emulator/semantics/Semantics.h"

#include <algorithm>
#include <cstring>

namespace kw::detail {

namespace {

u64 offsetOf(const Wave &wave, const Op &op) {
  const u64 reg = op.source[1].file == File::none ? 0 : wave.scalarOperand(op.source[1]);
  return reg + static_cast<u64>(op.imm);
}

u64 addressOf(const Wave &wave, const Op &op) {
  return (wave.scalarOperand64(op.source[0]) + offsetOf(wave, op)) & ~u64{3};
}

void writeWord(Wave &wave, const Op &op, int word, u32 value, bool valid) {
  const int reg = op.result[0].reg + word;
  wave.sgpr[reg] = value;
  wave.sgprValid[reg] = valid ? ~0u : 0;
  wave.sgprOrigin[reg] = op.index + 1;
}

void load(Wave &wave, const Op &op) {
  const u64 address = addressOf(wave, op);
  const GlobalSpan from = globalSpan(wave, op, -1, address, op.accessBytes, false);
  if (from.host) {
    from.note(wave, op, -1, op.accessBytes);
  }
  for (int word = 0; word < op.result[0].words; ++word) {
    u32 value = 0;
    bool valid = true;
    if (from.host) {
      std::memcpy(&value, from.host + 4 * word, 4);
      valid = from.isInitialised(4 * word, 4);
    }
    writeWord(wave, op, word, value, valid);
  }
}

void bufferLoad(Wave &wave, const Op &op) {
  const u64 base = wave.scalar64(op.source[0].reg) & 0xffffffffffff;
  const u32 records = wave.sgpr[op.source[0].reg + 2];
  const u64 offset = offsetOf(wave, op) & ~u64{3};
  for (int word = 0; word < op.result[0].words; ++word) {
    u32 value = 0;
    bool valid = true;
    if (offset + 4 * word + 4 <= records) {
      const GlobalSpan from = globalSpan(wave, op, -1, base + offset + 4 * word, 4, false);
      if (from.host) {
        from.note(wave, op, -1, 4);
        std::memcpy(&value, from.host, 4);
        valid = from.isInitialised(0, 4);
      }
    }
    writeWord(wave, op, word, value, valid);
  }
}

void store(Wave &wave, const Op &op) {
  const GlobalSpan to = globalSpan(wave, op, -1, addressOf(wave, op), op.accessBytes, true);
  if (to.host) {
    ++wave.group->advances;
    to.note(wave, op, -1, op.accessBytes);
    std::memcpy(to.host, &wave.sgpr[op.source[3].reg], op.accessBytes);
    to.markInitialised(0, op.accessBytes);
  }
}

template <auto F> void atomic(Wave &wave, const Op &op) {
  const GlobalSpan to = globalSpan(wave, op, -1, addressOf(wave, op), 4, true);
  if (!to.host) {
    return;
  }
  to.note(wave, op, -1, 4);
  u32 old;
  std::memcpy(&old, to.host, 4);
  const u32 result = F(old, wave.sgpr[op.source[3].reg]);
  wave.group->advances += result != old;
  std::memcpy(to.host, &result, 4);
  to.markInitialised(0, 4);
  if (op.glc && op.resultCount > 0) {
    writeWord(wave, op, 0, old, true);
  }
}

void nothing(Wave &, const Op &) {}
/// Time is not emulated: the number of instructions executed stands for it.
void readClock(Wave &wave, const Op &op) {
  wave.writeScalar64(op.result[0], wave.executed);
  wave.sgprValid[op.result[0].reg] = wave.sgprValid[op.result[0].reg + 1] = ~0u;
}

} // namespace

std::span<const Semantics> scalarMemoryTable() {
  static const Semantics rows[] = {
      {"S_LOAD_DWORD", load},
      {"S_LOAD_DWORDX2", load},
      {"S_LOAD_DWORDX4", load},
      {"S_LOAD_DWORDX8", load},
      {"S_LOAD_DWORDX16", load},
      {"S_BUFFER_LOAD_DWORD", bufferLoad},
      {"S_BUFFER_LOAD_DWORDX2", bufferLoad},
      {"S_BUFFER_LOAD_DWORDX4", bufferLoad},
      {"S_BUFFER_LOAD_DWORDX8", bufferLoad},
      {"S_BUFFER_LOAD_DWORDX16", bufferLoad},
      {"S_STORE_DWORD", store},
      {"S_STORE_DWORDX2", store},
      {"S_STORE_DWORDX4", store},
      {"S_ATOMIC_ADD", atomic<[](u32 m, u32 d) { return m + d; }>},
      {"S_ATOMIC_SUB", atomic<[](u32 m, u32 d) { return m - d; }>},
      {"S_ATOMIC_INC", atomic<[](u32 m, u32 d) { return (m >= d) ? 0 : m + 1; }>},
      {"S_ATOMIC_DEC", atomic<[](u32 m, u32 d) { return (m == 0 || m > d) ? d : m - 1; }>},
      {"S_ATOMIC_OR", atomic<[](u32 m, u32 d) { return m | d; }>},
      {"S_ATOMIC_AND", atomic<[](u32 m, u32 d) { return m & d; }>},
      {"S_ATOMIC_SWAP", atomic<[](u32, u32 d) { return d; }>},
      {"S_DCACHE_INV", nothing},
      {"S_DCACHE_WB", nothing},
      {"S_DCACHE_INV_VOL", nothing},
      {"S_DCACHE_WB_VOL", nothing},
      {"S_MEMTIME", readClock},
      {"S_MEMREALTIME", readClock},
  };
  return rows;
}

} // namespace kw::detail
