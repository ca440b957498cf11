// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/semantics/Places.h"

#include "runtime/emulator/Workgroup.h"
#include "runtime/emulator/semantics/Words.h"

#include <algorithm>
#include <fmt/core.h>

namespace kw::detail {

namespace {

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

} // namespace

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

bool readLane(Wave &wave, const Op &op, const Places &places, int lane, u8 *to, unsigned count) {
  std::memset(to, 0, count);
  bool defined = true;
  if (places.allInside >> lane & 1) {
    const GlobalSpan from = globalSpan(wave, op, lane, places.address(lane), count, false);
    if (from.host) {
      from.note(wave, op, lane, count);
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
        from.note(wave, op, lane, part);
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
        to.note(wave, op, lane, part, from + at);
        std::memcpy(to.host, from + at, part);
        to.markInitialised(0, part);
      }
    } else if (places.isDisputed(lane, at, part)) {
      globalSpan(wave, op, lane, places.address(lane) + at, part, true);
    }
  }
}

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
  out.first = at;
  for (int l = 0; l < laneCount; ++l) {
    out.offset[l] = static_cast<u32>(places.at[l] - low);
  }
  return true;
}

void noteTogether(Wave &wave, const Op &op, const Together &together, unsigned count, int stored) {
  if (!wave.strict() || !isTracked(*together.allocation, op.use)) {
    return;
  }
  AccessLog::StampLock lock(*wave.group->context.log);
  u8 bytes[16];
  for (int l = 0; l < laneCount; ++l) {
    if (stored >= 0) {
      takeStored(wave, op, stored, l, bytes, count);
    }
    noteGlobal(wave, op, op.use, l, *together.allocation, together.first + together.offset[l],
               count, lock, stored >= 0 ? bytes : nullptr);
  }
}

void setLoadedValid(Wave &wave, const Op &op, int words, u64 active, u64 defined) {
  const int first = op.result[0].reg;
  for (int word = 0; word < words; ++word) {
    u64 &valid = wave.vgprValid[first + word];
    valid = (valid & ~active) | (defined & active);
    wave.vgprOrigin[first + word] = op.index + 1;
  }
}

} // namespace kw::detail
