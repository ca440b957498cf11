// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the lanes of a buffer, global or flat access go, and what is shared by loads, stores and
// atomics.
#pragma once

#include "runtime/emulator/MemoryAccess.h"
#include "runtime/emulator/semantics/Numbers.h"

namespace kw::detail {

/// Where each lane's access goes. Buffers: bytes beyond `limit - offset[l]` read 0 and drop stores.
struct Places {
  u64 lanes = 0; ///< active
  bool isBuffer = false;
  u64 base = 0;         ///< buffer: added to offset
  u64 limit = 0;        ///< buffer: num_records in bytes
  u64 at[laneCount];    ///< address, or offset from the buffer's base
  u64 scalarOffset = 0; ///< buffer: its part of `at`
  u64 allInside = 0;    ///< lanes whose access is fully in the buffer

  u64 address(int lane) const { return base + at[lane]; }
  /// How many of `count` bytes from `from` on are readable: all, or none (checked per dword).
  bool inside(int lane, u64 from, u64 count) const {
    return !isBuffer || at[lane] + from + count <= limit;
  }
  /// Outside by the scalar offset alone. The ISA manual has it in the range check, LLVM documents
  /// that it is not: the access counts as outside, yet nothing may be unmapped there.
  bool isDisputed(int lane, u64 from, u64 count) const {
    return scalarOffset != 0 && at[lane] - scalarOffset + from + count <= limit;
  }
};

/// Fills `out` for an access of `count` bytes a lane; reports what is misaligned.
void place(Wave &wave, const Op &op, unsigned count, Places &out);

/// Reads `count` bytes of one lane; false if some are not initialised. Dwords outside a buffer
/// give 0.
bool readLane(Wave &wave, const Op &op, const Places &places, int lane, u8 *to, unsigned count);
/// Writes them; dwords outside a buffer are dropped.
void writeLane(Wave &wave, const Op &op, const Places &places, int lane, const u8 *from,
               unsigned count);

/// All 64 lanes in one allocation: the host address of the lowest and each lane's offset from it.
struct Together {
  const GlobalMemory::Allocation *allocation = nullptr;
  u8 *host = nullptr;
  u64 first = 0; ///< of `host` in the allocation
  alignas(64) u32 offset[laneCount];
};
/// False: not all lanes are on, or they are scattered over allocations.
bool liesTogether(const Wave &wave, const Places &places, unsigned count, Together &out);

/// Strict: notes the access for the check of races. `stored`: the first register of a store.
void noteTogether(Wave &wave, const Op &op, const Together &together, unsigned count,
                  int stored = -1);

/// Marks the result's registers: `defined` in the lanes `active`.
void setLoadedValid(Wave &wave, const Op &op, int words, u64 active, u64 defined);

// Rows of the tables: every width of one kind of address.
#define KW_LOADS(PREFIX, HANDLER)                                                                  \
  {PREFIX "_LOAD_DWORD", HANDLER}, {PREFIX "_LOAD_DWORDX2", HANDLER},                              \
      {PREFIX "_LOAD_DWORDX3", HANDLER}, {PREFIX "_LOAD_DWORDX4", HANDLER},                        \
      {PREFIX "_LOAD_UBYTE", HANDLER}, {PREFIX "_LOAD_SBYTE", HANDLER},                            \
      {PREFIX "_LOAD_USHORT", HANDLER}, {PREFIX "_LOAD_SSHORT", HANDLER},                          \
      {PREFIX "_LOAD_UBYTE_D16", HANDLER}, {PREFIX "_LOAD_UBYTE_D16_HI", HANDLER},                 \
      {PREFIX "_LOAD_SBYTE_D16", HANDLER}, {PREFIX "_LOAD_SBYTE_D16_HI", HANDLER},                 \
      {PREFIX "_LOAD_SHORT_D16", HANDLER}, {                                                       \
    PREFIX "_LOAD_SHORT_D16_HI", HANDLER                                                           \
  }
#define KW_STORES(PREFIX, HANDLER)                                                                 \
  {PREFIX "_STORE_DWORD", HANDLER}, {PREFIX "_STORE_DWORDX2", HANDLER},                            \
      {PREFIX "_STORE_DWORDX3", HANDLER}, {PREFIX "_STORE_DWORDX4", HANDLER},                      \
      {PREFIX "_STORE_BYTE", HANDLER}, {PREFIX "_STORE_BYTE_D16_HI", HANDLER},                     \
      {PREFIX "_STORE_SHORT", HANDLER}, {                                                          \
    PREFIX "_STORE_SHORT_D16_HI", HANDLER                                                          \
  }

} // namespace kw::detail
