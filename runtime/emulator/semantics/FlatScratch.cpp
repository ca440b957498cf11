// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// scratch_* and flat_* loads and stores.
#include "runtime/emulator/Checker.h"
#include "runtime/emulator/Workgroup.h"
#include "runtime/emulator/semantics/Apertures.h"
#include "runtime/emulator/semantics/Places.h"
#include "runtime/emulator/semantics/Semantics.h"
#include "runtime/emulator/semantics/Words.h"

#include <algorithm>
#include <bit>
#include <fmt/core.h>

namespace kw::detail {

namespace {

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
  setLoadedValid(wave, op, static_cast<int>(std::max(1u, count / 4)), exec, defined);
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
    setLoadedValid(wave, op, static_cast<int>(std::max(1u, count / 4)), places.lanes, defined);
  }
}

} // namespace

std::span<const Semantics> flatScratchTable() {
  static const Semantics rows[] = {
      KW_LOADS("FLAT", flat),
      KW_STORES("FLAT", flat),
      KW_LOADS("SCRATCH", scratchLoad),
      KW_STORES("SCRATCH", scratchStore),
  };
  return rows;
}

} // namespace kw::detail
