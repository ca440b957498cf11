// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, stores and loads to LDS of buffer_* and global_*. Data moves when the instruction issues;
// strict mode keeps the wave from using it before its wait (Checker.h).
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

u64 initialisedLanes(const Together &together, unsigned count) {
  const ByteFlags &initialised = together.allocation->initialised;
  if (!initialised) {
    return allLanes;
  }
  u64 defined = 0;
  for (int l = 0; l < laneCount; ++l) {
    defined |= u64{initialised.all(together.first + together.offset[l], count)} << l;
  }
  return defined;
}

void markInitialised(const Together &together, unsigned count) {
  const ByteFlags &initialised = together.allocation->initialised;
  if (!initialised) {
    return;
  }
  // Lanes that follow each other at once.
  for (int l = 0; l < laneCount;) {
    const u32 begin = together.offset[l];
    u32 end = begin;
    while (l < laneCount && together.offset[l] == end) {
      end += count;
      ++l;
    }
    initialised.set(together.first + begin, end - begin);
  }
}

/// All lanes at once.
void storeTogether(Wave &wave, const Op &op, const Together &together) {
  const unsigned count = op.accessBytes;
  const int first = op.source[3].reg;
  noteTogether(wave, op, together, count, first);
  if (op.memoryType == MemoryType::dwords) {
    laneCopies().scatter(&wave.vgpr[first], together.host, together.offset,
                         static_cast<int>(count / 4));
  } else {
    for (int l = 0; l < laneCount; ++l) {
      takeStored(wave, op, first, l, together.host + together.offset[l], count);
    }
  }
  markInitialised(together, count);
}

void loadPlaces(Wave &wave, const Op &op, const Places &places) {
  const unsigned count = op.accessBytes;
  const int first = op.result[0].reg, words = static_cast<int>(std::max(1u, count / 4));
  Together together;
  if (op.memoryType == MemoryType::dwords && liesTogether(wave, places, count, together)) {
    const u64 defined = wave.strict() ? initialisedLanes(together, count) : allLanes;
    noteTogether(wave, op, together, count);
    laneCopies().gather(&wave.vgpr[first], together.host, together.offset, words);
    setLoadedValid(wave, op, words, allLanes, defined);
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
  setLoadedValid(wave, op, words, places.lanes, defined);
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
  if (Together together;
      liesTogether(wave, places, count, together) && !together.allocation->readOnly) {
    storeTogether(wave, op, together);
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
  LdsCapture *const capture = wave.capture;
  if (capture) {
    capture->lanes = lanes;
    capture->bytes = step;
    std::copy_n(at, laneCount, capture->address.begin());
  }
  const auto target = [&](int l) { return capture ? capture->data[l].data() : lds.data() + at[l]; };
  Together together;
  if (lanes == allLanes && count % 4 == 0 && liesTogether(wave, places, count, together)) {
    defined = wave.strict() ? initialisedLanes(together, count) : allLanes;
    noteTogether(wave, op, together, count);
    for (int l = 0; l < laneCount; ++l) {
      if (count == 16) {
        std::memcpy(target(l), together.host + together.offset[l], 16);
      } else {
        std::memcpy(target(l), together.host + together.offset[l], count);
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
        std::memcpy(target(l), &word, 4);
      } else {
        std::memcpy(target(l), bytes, count);
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

void nothing(Wave &, const Op &) {}

// Scopes below agent concern caches of the CU alone, which its own waves share.
void writeBack(Wave &wave, const Op &op) {
  if (wave.strict() && op.writesBack) {
    noteWriteback(wave);
  }
}
void invalidate(Wave &wave, const Op &op) {
  if (wave.strict() && (op.imm & cachePolicy::sc1)) {
    noteInvalidate(wave);
  }
}

} // namespace

std::span<const Semantics> vectorMemoryTable() {
  static const Semantics rows[] = {
      KW_LOADS("BUFFER", load),    KW_STORES("BUFFER", store), KW_LOADS("GLOBAL", load),
      KW_STORES("GLOBAL", store),  {"BUFFER_INV", invalidate}, {"BUFFER_WBL2", writeBack},
      {"BUFFER_WBINVL1", nothing},
  };
  return rows;
}

} // namespace kw::detail
