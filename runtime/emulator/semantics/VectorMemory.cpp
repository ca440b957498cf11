// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// buffer_*, global_*, flat_*, scratch_*: addresses first (one function a kind), then one load, one
// store, one load to LDS and one atomic for all of them. Data moves when the instruction issues;
// strict mode keeps the wave from using it before its wait (Checker.h).
#include "runtime/emulator/Checker.h"
#include "runtime/emulator/MemoryAccess.h"
#include "runtime/emulator/Workgroup.h"
#include "runtime/emulator/semantics/Apertures.h"
#include "runtime/emulator/semantics/Fetch.h"
#include "runtime/emulator/semantics/Semantics.h"
#include "runtime/emulator/semantics/Words.h"

#include <algorithm>
#include <bit>
#include <fmt/core.h>

namespace kw::detail {

namespace {

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

// ---- Addresses
// -----------------------------------------------------------------------------------

/// Buffer resource words: base 48, stride 14 (16..29 of word 1), swizzle bit 31, num_records,
/// flags. Stride only matters with an index. [gfx950.md 4.4]
void placeBuffer(Wave &wave, const Op &op, unsigned count, Places &out) {
  const u32 *resource = &wave.sgpr[op.source[1].reg];
  const u64 stride = resource[1] >> 16 & 0x3fff;
  const u64 records = resource[2];
  const u64 scalarOffset = op.source[2].file == File::none ? 0 : wave.scalarOperand(op.source[2]);
  const bool swizzled = resource[1] >> 31;
  out.isBuffer = true;
  out.scalarOffset = scalarOffset;
  out.base = resource[0] | static_cast<u64>(resource[1] & 0xffff) << 32;
  out.limit = records;
  const int reg = op.source[0].reg;
  const u64 fixed = static_cast<u64>(op.imm) + scalarOffset;
  if (!op.idxen) {
    for (int l = 0; l < laneCount; ++l) {
      out.at[l] = fixed + (op.offen ? wave.vgpr[reg][l] : 0);
    }
  } else {
    if (swizzled) {
      wave.fail(op, "swizzled buffer resources are not emulated");
      return;
    }
    // Structured: the index is checked against num_records (in units of the stride), all or
    // nothing.
    for (int l = 0; l < laneCount; ++l) {
      const u64 index = wave.vgpr[reg][l];
      const u64 offset = op.offen ? wave.vgpr[reg + 1][l] : 0;
      const bool outside = stride != 0 && index >= records;
      out.at[l] = outside ? ~u64{0} / 2 : index * stride + offset + fixed;
    }
    out.limit = stride == 0 ? records : ~u64{0} / 4;
  }
  for (int l = 0; l < laneCount; ++l) {
    out.allInside |= u64{out.at[l] + count <= out.limit} << l;
  }
}

void placeGlobal(Wave &wave, const Op &op, Places &out) {
  const int reg = op.source[0].reg;
  if (op.addressIsScalar) {
    const u64 base = wave.scalarOperand64(op.source[1]) + static_cast<u64>(op.imm);
    for (int l = 0; l < laneCount; ++l) {
      out.at[l] = base + wave.vgpr[reg][l];
    }
  } else {
    for (int l = 0; l < laneCount; ++l) {
      out.at[l] = (wave.vgpr[reg][l] | static_cast<u64>(wave.vgpr[reg + 1][l]) << 32) +
                  static_cast<u64>(op.imm);
    }
  }
  out.allInside = allLanes;
}

void place(Wave &wave, const Op &op, unsigned count, Places &out) {
  out.lanes = wave.exec();
  op.kind == Kind::buffer ? placeBuffer(wave, op, count, out) : placeGlobal(wave, op, out);
  if (!wave.strict() || count < 4) {
    return;
  }
  if (op.kind != Kind::buffer && op.access != Access::atomic) {
    return; // unaligned access mode is on under HSA
  }
  for (int l = 0; l < laneCount; ++l) {
    if ((out.lanes >> l & 1) && out.address(l) % 4 != 0 && out.inside(l, 0, count)) {
      wave.report(FindingKind::misaligned, op, l,
                  fmt::format("address {:#x} is not a multiple of 4", out.address(l)));
      return;
    }
  }
}

// ---- One lane
// ------------------------------------------------------------------------------------

/// Reads `count` bytes; false if some are not initialised. Dwords outside a buffer give 0.
bool readLane(Wave &wave, const Op &op, const Places &places, int lane, u8 *to, unsigned count) {
  std::memset(to, 0, count);
  bool defined = true;
  if (places.allInside >> lane & 1) {
    const GlobalSpan from = globalSpan(wave, op, lane, places.address(lane), count, false);
    if (from.host) {
      std::memcpy(to, from.host, count);
      defined = from.isInitialised(0, count);
    }
    return defined;
  }
  for (unsigned at = 0; at < count; at += 4) {
    const unsigned part = std::min(4u, count - at);
    if (places.inside(lane, at, part)) {
      const GlobalSpan from = globalSpan(wave, op, lane, places.address(lane) + at, part, false);
      if (from.host) {
        std::memcpy(to + at, from.host, part);
        defined &= from.isInitialised(0, part);
      }
    } else if (places.isDisputed(lane, at, part)) {
      globalSpan(wave, op, lane, places.address(lane) + at, part, false);
    }
  }
  return defined;
}

void writeLane(Wave &wave, const Op &op, const Places &places, int lane, const u8 *from,
               unsigned count) {
  for (unsigned at = 0; at < count; at += 4) {
    const unsigned part = std::min(4u, count - at);
    if (places.inside(lane, at, part)) {
      const GlobalSpan to = globalSpan(wave, op, lane, places.address(lane) + at, part, true);
      if (to.host) {
        std::memcpy(to.host, from + at, part);
        to.markInitialised(0, part);
      }
    } else if (places.isDisputed(lane, at, part)) {
      globalSpan(wave, op, lane, places.address(lane) + at, part, true);
    }
  }
}

/// All 64 lanes in one allocation: the host address of the lowest and each lane's offset from it.
struct Together {
  const GlobalMemory::Allocation *allocation = nullptr;
  u8 *host = nullptr;
  u8 *initialised = nullptr;
  alignas(64) u32 offset[laneCount];
};
bool liesTogether(const Wave &wave, const Places &places, unsigned count, Together &out) {
  if (places.lanes != allLanes || places.allInside != allLanes) {
    return false;
  }
  u64 low = places.at[0], high = places.at[0];
  for (int l = 1; l < laneCount; ++l) {
    low = std::min(low, places.at[l]);
    high = std::max(high, places.at[l]);
  }
  if (high - low >= 0x80000000) {
    return false;
  }
  out.allocation = wave.group->context.memory->find(places.base + low, high - low + count);
  if (!out.allocation) {
    return false;
  }
  const u64 at = places.base + low - out.allocation->base;
  out.host = out.allocation->host + at;
  out.initialised = out.allocation->initialised ? out.allocation->initialised + at : nullptr;
  for (int l = 0; l < laneCount; ++l) {
    out.offset[l] = static_cast<u32>(places.at[l] - low);
  }
  return true;
}

void setValid(Wave &wave, const Op &op, int words, u64 active, u64 defined) {
  const int first = op.result[0].reg;
  for (int word = 0; word < words; ++word) {
    u64 &valid = wave.vgprValid[first + word];
    valid = (valid & ~active) | (defined & active);
    wave.vgprOrigin[first + word] = op.index + 1;
  }
}

u64 initialisedLanes(const Together &together, unsigned count) {
  if (!together.initialised) {
    return allLanes;
  }
  u64 defined = 0;
  for (int l = 0; l < laneCount; ++l) {
    const u8 *first = together.initialised + together.offset[l];
    defined |= u64{std::find(first, first + count, 0) == first + count} << l;
  }
  return defined;
}

// ---- The four accesses
// ---------------------------------------------------------------------------

void loadPlaces(Wave &wave, const Op &op, const Places &places) {
  const unsigned count = op.accessBytes;
  const int first = op.result[0].reg, words = static_cast<int>(std::max(1u, count / 4));
  Together together;
  if (op.memoryType == MemoryType::dwords && liesTogether(wave, places, count, together)) {
    const u64 defined = wave.strict() ? initialisedLanes(together, count) : allLanes;
    laneCopies().gather(&wave.vgpr[first], together.host, together.offset, words);
    setValid(wave, op, words, allLanes, defined);
    return;
  }
  u64 defined = allLanes;
  u8 bytes[16];
  for (int l = 0; l < laneCount; ++l) {
    if (places.lanes >> l & 1) {
      const bool valid = readLane(wave, op, places, l, bytes, count);
      putLoaded(wave, op, first, l, bytes, count);
      defined &= valid ? allLanes : ~(u64{1} << l);
    }
  }
  setValid(wave, op, words, places.lanes, defined);
}

void storePlaces(Wave &wave, const Op &op, const Places &places) {
  const unsigned count = op.accessBytes;
  const int first = op.source[3].reg;
  if (wave.strict()) {
    const u64 written = places.isBuffer ? places.lanes & places.allInside : places.lanes;
    const u64 bad = written & ~definedLanes(wave, op.source[3]);
    if (bad != 0) {
      reportUndefined(wave, op, op.source[3], bad, "the stored value");
    }
  }
  Together together;
  if (op.memoryType == MemoryType::dwords && liesTogether(wave, places, count, together) &&
      !together.allocation->readOnly) {
    laneCopies().scatter(&wave.vgpr[first], together.host, together.offset,
                         static_cast<int>(count / 4));
    if (together.initialised) {
      for (int l = 0; l < laneCount; ++l) {
        std::memset(together.initialised + together.offset[l], 1, count);
      }
    }
    return;
  }
  u8 bytes[16];
  for (int l = 0; l < laneCount; ++l) {
    if (places.lanes >> l & 1) {
      takeStored(wave, op, first, l, bytes, count);
      writeLane(wave, op, places, l, bytes, count);
    }
  }
}

/// LDS address = M0 + instruction offset + lane * size; inactive lanes write nothing, lanes outside
/// the buffer write 0.
void loadPlacesToLds(Wave &wave, const Op &op, const Places &places) {
  Lds &lds = wave.group->lds;
  const unsigned count = op.accessBytes;
  const u32 base = wave.sgpr[scalarReg::m0] + static_cast<u32>(op.imm);
  const u32 step = std::max(4u, count);
  const u32 serial = lds.nextSerial();
  wave.issuing.loadToLds = true;
  wave.issuing.serial = serial;
  alignas(64) u32 at[laneCount];
  u64 lanes = places.lanes, defined = allLanes;
  if (base % 4 != 0) {
    wave.report(FindingKind::misaligned, op, -1,
                fmt::format("LDS address {:#x} (M0 + offset) is not a multiple of 4", base));
  }
  for (int l = 0; l < laneCount; ++l) {
    at[l] = base + static_cast<u32>(l) * step;
    if ((lanes >> l & 1) && (lds.size() < step || at[l] > lds.size() - step)) {
      wave.report(FindingKind::outOfBounds, op, l,
                  fmt::format("load to LDS address {:#x} of {} allocated", at[l], lds.size()));
      lanes &= ~(u64{1} << l);
    }
  }
  Together together;
  if (lanes == allLanes && count % 4 == 0 && liesTogether(wave, places, count, together)) {
    defined = wave.strict() ? initialisedLanes(together, count) : allLanes;
    for (int l = 0; l < laneCount; ++l) {
      if (count == 16) {
        std::memcpy(lds.data() + at[l], together.host + together.offset[l], 16);
      } else {
        std::memcpy(lds.data() + at[l], together.host + together.offset[l], count);
      }
    }
  } else {
    u8 bytes[16];
    for (int l = 0; l < laneCount; ++l) {
      if (!(lanes >> l & 1)) {
        continue;
      }
      const bool valid = readLane(wave, op, places, l, bytes, count);
      defined &= valid ? allLanes : ~(u64{1} << l);
      u32 word = 0;
      if (count < 4) { // bytes and shorts arrive extended
        std::memcpy(&word, bytes, count);
        if (op.memoryType == MemoryType::signExtend) {
          word = static_cast<u32>(static_cast<i32>(word << (32 - 8 * count)) >>
                                  (32 - static_cast<int>(8 * count)));
        }
        std::memcpy(lds.data() + at[l], &word, 4);
      } else {
        std::memcpy(lds.data() + at[l], bytes, count);
      }
    }
  }
  if (wave.strict()) {
    lds.noteWrites(wave, op, {lanes, at, step},
                   {.dma = true, .serial = serial, .validLanes = defined});
  }
}

void withPlaces(Wave &wave, const Op &op, void (*access)(Wave &, const Op &, const Places &)) {
  Places places;
  place(wave, op, op.accessBytes, places);
  access(wave, op, places);
}

void load(Wave &wave, const Op &op) {
  withPlaces(wave, op, op.access == Access::loadToLds ? loadPlacesToLds : loadPlaces);
}
void store(Wave &wave, const Op &op) { withPlaces(wave, op, storePlaces); }

// ---- Atomics
// -------------------------------------------------------------------------------------

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
        std::memcpy(&memory, at.host, sizeof(T));
        if (!at.isInitialised(0, sizeof(T))) {
          wave.report(FindingKind::uninitialisedRead, op, l,
                      "atomic on memory that nothing has written");
        }
        const T compare =
            op.source[3].words * 4u > sizeof(T) ? operandOf<T>(wave, data + sizeof(T) / 4, l) : T{};
        const T result = F(memory, operandOf<T>(wave, data, l), compare);
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
    setValid(wave, op, sizeof(T) / 4, places.lanes, allLanes);
  }
}

// ---- Flat
// ----------------------------------------------------------------------------------------

u8 *scratchAt(Wave &wave, const Op &op, int lane, u64 offset, unsigned count);

/// Flat addresses mean LDS, scratch or global memory, lane by lane.
void flat(Wave &wave, const Op &op) {
  Places places;
  place(wave, op, op.accessBytes, places);
  const unsigned count = op.accessBytes;
  const bool isStore = op.access == Access::store;
  u64 defined = allLanes;
  const u64 validData = isStore ? definedLanes(wave, op.source[3]) : allLanes;
  for (int l = 0; l < laneCount; ++l) {
    if (!(places.lanes >> l & 1)) {
      continue;
    }
    u8 bytes[16] = {};
    const u64 address = places.address(l);
    if (isStore) {
      takeStored(wave, op, op.source[3].reg, l, bytes, count);
    }
    if (aperture::isShared(address)) {
      Lds &lds = wave.group->lds;
      const u32 at[laneCount] = {};
      alignas(64) u32 one[laneCount];
      std::copy_n(at, laneCount, one);
      one[l] = static_cast<u32>(address);
      if (lds.size() < count || one[l] > lds.size() - count) {
        wave.report(FindingKind::outOfBounds, op, l,
                    fmt::format("{} bytes at LDS address {:#x} of {} allocated", count, one[l],
                                lds.size()));
      } else if (isStore) {
        std::memcpy(lds.data() + one[l], bytes, count);
        if (wave.strict()) {
          const u32 serial = lds.nextSerial();
          wave.issuing.ldsWrite = true;
          wave.issuing.serial = serial;
          lds.noteWrites(wave, op, {u64{1} << l, one, count},
                         {.serial = serial, .validLanes = validData});
        }
      } else {
        std::memcpy(bytes, lds.data() + one[l], count);
        if (wave.strict() && lds.noteReads(wave, op, {u64{1} << l, one, count}) == 0) {
          defined &= ~(u64{1} << l);
        }
      }
    } else if (aperture::isScratch(address)) {
      for (unsigned at = 0; at < count; ++at) {
        u8 *byte = scratchAt(wave, op, l, (address & 0xffffffff) + at, 1);
        if (byte && isStore) {
          *byte = bytes[at];
        } else if (byte) {
          bytes[at] = *byte;
        }
      }
    } else if (isStore) {
      if (wave.strict() && !(validData >> l & 1)) {
        reportUndefined(wave, op, op.source[3], u64{1} << l, "the stored value");
      }
      writeLane(wave, op, places, l, bytes, count);
    } else if (!readLane(wave, op, places, l, bytes, count)) {
      defined &= ~(u64{1} << l);
    }
    if (!isStore) {
      putLoaded(wave, op, op.result[0].reg, l, bytes, count);
    }
  }
  if (!isStore) {
    setValid(wave, op, static_cast<int>(std::max(1u, count / 4)), places.lanes, defined);
  }
}

// ---- Scratch
// -------------------------------------------------------------------------------------

/// Scratch is [dword][lane], so that spills of whole registers are contiguous; bytes of a dword lie
/// together. Null (reported) if out of bounds.
u8 *scratchAt(Wave &wave, const Op &op, int lane, u64 offset, unsigned count) {
  const u64 bytes = wave.scratch.size() / laneCount * 4;
  if (count > bytes || offset > bytes - count) {
    wave.report(
        FindingKind::outOfBounds, op, lane,
        fmt::format("{} bytes at scratch offset {:#x} of {} allocated", count, offset, bytes));
    return nullptr;
  }
  return reinterpret_cast<u8 *>(&wave.scratch[offset / 4 * laneCount + lane]) + offset % 4;
}

u64 scratchOffset(const Wave &wave, const Op &op, int lane) {
  u32 offset = static_cast<u32>(op.imm);
  if (op.source[0].file == File::vector) {
    offset += wave.vgpr[op.source[0].reg][lane];
  }
  if (op.source[1].file != File::none) {
    offset += wave.scalarOperand(op.source[1]);
  }
  return offset;
}

/// A part of an access that stays within a dword.
template <class F> void forEachPart(u64 offset, unsigned count, F f) {
  for (unsigned at = 0; at < count;) {
    const unsigned part = std::min<unsigned>(count - at, 4 - (offset + at) % 4);
    f(at, part);
    at += part;
  }
}

void scratchLoad(Wave &wave, const Op &op) {
  const unsigned count = op.accessBytes;
  const u64 exec = wave.exec();
  u64 defined = allLanes;
  for (int l = 0; l < laneCount; ++l) {
    if (!(exec >> l & 1)) {
      continue;
    }
    u8 bytes[16] = {};
    const u64 offset = scratchOffset(wave, op, l);
    forEachPart(offset, count, [&](unsigned at, unsigned part) {
      const u8 *from = scratchAt(wave, op, l, offset + at, part);
      if (from) {
        std::memcpy(bytes + at, from, part);
        const std::size_t cell = (offset + at) / 4 * laneCount + l;
        defined &= wave.scratchValid[cell] ? allLanes : ~(u64{1} << l);
      }
    });
    putLoaded(wave, op, op.result[0].reg, l, bytes, count);
  }
  setValid(wave, op, static_cast<int>(std::max(1u, count / 4)), exec, defined);
}

void scratchStore(Wave &wave, const Op &op) {
  const unsigned count = op.accessBytes;
  const u64 exec = wave.exec();
  for (int l = 0; l < laneCount; ++l) {
    if (!(exec >> l & 1)) {
      continue;
    }
    u8 bytes[16];
    takeStored(wave, op, op.source[3].reg, l, bytes, count);
    const u64 offset = scratchOffset(wave, op, l);
    forEachPart(offset, count, [&](unsigned at, unsigned part) {
      u8 *to = scratchAt(wave, op, l, offset + at, part);
      if (to) {
        std::memcpy(to, bytes + at, part);
        const int word = op.source[3].reg + static_cast<int>(at / 4);
        wave.scratchValid[(offset + at) / 4 * laneCount + l] = wave.vgprValid[word] >> l & 1;
      }
    });
  }
}

void nothing(Wave &, const Op &) {}

u32 addPackedHalf(u32 m, u32 d) {
  return toHalfBits(fromHalf(m & 0xffff) + fromHalf(d & 0xffff)) |
         toHalfBits(fromHalf(m >> 16) + fromHalf(d >> 16)) << 16;
}
u32 addPackedBfloat(u32 m, u32 d) {
  return toBfloatBits(fromBfloat(m & 0xffff) + fromBfloat(d & 0xffff)) |
         toBfloatBits(fromBfloat(m >> 16) + fromBfloat(d >> 16)) << 16;
}

} // namespace

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
#define KW_ATOMIC(VERB, T, EXPRESSION)                                                             \
  {"BUFFER_ATOMIC_" VERB, atomic<T, []([[maybe_unused]] T m, [[maybe_unused]] T d,                 \
                                       [[maybe_unused]] T c) { return T(EXPRESSION); }>},          \
      {"GLOBAL_ATOMIC_" VERB, atomic<T, []([[maybe_unused]] T m, [[maybe_unused]] T d,             \
                                           [[maybe_unused]] T c) { return T(EXPRESSION); }>},      \
  {                                                                                                \
    "FLAT_ATOMIC_" VERB, atomic<T, []([[maybe_unused]] T m, [[maybe_unused]] T d,                  \
                                      [[maybe_unused]] T c) { return T(EXPRESSION); }>             \
  }

std::span<const Semantics> vectorMemoryTable() {
  static const Semantics rows[] = {
      KW_LOADS("BUFFER", load),
      KW_STORES("BUFFER", store),
      KW_LOADS("GLOBAL", load),
      KW_STORES("GLOBAL", store),
      KW_LOADS("FLAT", flat),
      KW_STORES("FLAT", flat),
      KW_LOADS("SCRATCH", scratchLoad),
      KW_STORES("SCRATCH", scratchStore),
      {"BUFFER_INV", nothing},
      {"BUFFER_WBL2", nothing},
      {"BUFFER_WBINVL1", nothing},
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
#undef KW_LOADS
#undef KW_STORES
#undef KW_ATOMIC

} // namespace kw::detail
