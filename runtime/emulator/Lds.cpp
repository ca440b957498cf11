// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/Lds.h"

#include "runtime/emulator/Wave.h"
#include "runtime/emulator/Workgroup.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/core.h>

namespace kw::detail {

namespace {

constexpr unsigned sequenceBits = 5;
constexpr std::uint32_t sequenceMask = (1u << sequenceBits) - 1;

template <class F> void forEachLane(std::uint64_t lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) {
    f(std::countr_zero(lanes));
  }
}

} // namespace

Lds::Lds(std::uint32_t bytes, bool strict) : bytes(bytes), strict(strict) {
  contents.resize((bytes + 63) / 64 * 64 + 64);
  if (strict) {
    cells.resize(bytes / 4 + 1);
    valid.resize(contents.size());
  }
}

void Lds::reset() {
  // Not zero: code that relies on zeroed LDS should fail visibly without strict mode, too.
  std::fill(contents.begin(), contents.end(), 0xcd);
  std::fill(cells.begin(), cells.end(), Cell());
  std::fill(valid.begin(), valid.end(), 0);
  epoch = 1;
  issued.fill(0);
  completed.fill(0);
  published.fill(0);
}

void Lds::barrier() {
  published = completed;
  if (++epoch == 0xffff) {
    for (Cell &cell : cells) {
      cell.readers = 0;
    }
    epoch = 1;
  }
}

bool Lds::isOrdered(const Cell &cell, int wave, bool isDma) const {
  const std::uint32_t sequence = cell.writer & sequenceMask, serial = cell.writer >> sequenceBits;
  if (static_cast<int>(sequence >> 1) == wave) {
    const bool writerIsDma = sequence & 1;
    return writerIsDma == isDma || !writerIsDma || serial <= completed[sequence];
  }
  return serial <= published[sequence];
}

void Lds::reportWriter(Wave &wave, const Op &op, int lane, std::uint32_t dword,
                       bool isWrite) const {
  const Cell &cell = cells[dword];
  const std::uint32_t sequence = cell.writer & sequenceMask, serial = cell.writer >> sequenceBits;
  const bool waited = serial <= completed[sequence];
  const int writer = static_cast<int>(sequence >> 1);
  const KernelCode &kernel = *wave.group->context.kernel;
  const std::uint32_t index = cell.writerOp >> 1;
  wave.report(
      waited ? FindingKind::ldsRace : FindingKind::missingWait, op, lane,
      fmt::format("LDS byte {} is {} though wave {} wrote it at {:#x} ({}) {}", 4 * dword,
                  isWrite ? "written" : "read", writer, kernel.offsets[index], kernel.text[index],
                  waited         ? "with no barrier since"
                  : sequence & 1 ? "and no s_waitcnt vmcnt has covered that"
                                 : "and no s_waitcnt lgkmcnt before a barrier covered that"));
}

std::uint64_t Lds::noteReads(Wave &wave, const Op &op, const LdsAccess &access) {
  std::uint64_t defined = access.lanes;
  const std::uint32_t self = 1u << wave.id, stamp = epoch << 16;
  const std::uint32_t readerOp = op.index;
  forEachLane(access.lanes, [&](int lane) {
    const std::uint32_t address = access.address[lane];
    const std::uint32_t last = (address + access.count - 1) / 4;
    for (std::uint32_t dword = address / 4; dword <= last; ++dword) {
      Cell &cell = cells[dword];
      if (cell.writer != 0 && !isOrdered(cell, wave.id, false)) {
        reportWriter(wave, op, lane, dword, false);
      }
      cell.readers = (cell.readers >> 16 == epoch ? cell.readers : stamp) | self;
      cell.readerOp = readerOp;
    }
    const std::uint8_t *first = valid.data() + address;
    bool all = true;
    for (unsigned i = 0; i < access.count; ++i) {
      all &= first[i] != 0;
    }
    defined &= all ? allLanes : ~(std::uint64_t{1} << lane);
  });
  return defined;
}

std::uint64_t Lds::noteAtomics(Wave &, const Op &, const LdsAccess &access) {
  std::uint64_t defined = access.lanes;
  forEachLane(access.lanes, [&](int lane) {
    const std::uint8_t *first = valid.data() + access.address[lane];
    if (std::find(first, first + access.count, 0) != first + access.count) {
      defined &= ~(std::uint64_t{1} << lane);
    }
  });
  return defined;
}

void Lds::noteWrites(Wave &wave, const Op &op, const LdsAccess &access, const WriteKind &kind) {
  const std::uint32_t self = 1u << wave.id;
  const std::uint32_t writer =
      static_cast<std::uint32_t>(2 * wave.id + kind.dma) | kind.serial << sequenceBits;
  const std::uint32_t writerOp = op.index << 1 | (kind.atomic ? 1 : 0);
  const KernelCode &kernel = *wave.group->context.kernel;
  forEachLane(access.lanes, [&](int lane) {
    const std::uint32_t address = access.address[lane];
    const std::uint32_t last = (address + access.count - 1) / 4;
    for (std::uint32_t dword = address / 4; dword <= last; ++dword) {
      Cell &cell = cells[dword];
      const bool bothAtomic = kind.atomic && (cell.writerOp & 1);
      // Waves that write different halves of a dword do not meet.
      const bool partial = access.count < 4;
      if (cell.writer != 0 && cell.writer != writer && !bothAtomic && !partial &&
          !isOrdered(cell, wave.id, kind.dma)) {
        reportWriter(wave, op, lane, dword, true);
      }
      if (cell.readers >> 16 == epoch && (cell.readers & 0xffff & ~self) && !kind.atomic &&
          !partial) {
        wave.report(FindingKind::ldsRace, op, lane,
                    fmt::format("LDS byte {} is written though wave {} read it at {:#x} ({}) with "
                                "no barrier since",
                                4 * dword, std::countr_zero(cell.readers & 0xffff & ~self),
                                kernel.offsets[cell.readerOp], kernel.text[cell.readerOp]));
      }
      cell.writer = writer;
      cell.writerOp = writerOp;
    }
    std::memset(valid.data() + address, kind.validLanes >> lane & 1 ? 1 : 0, access.count);
  });
}

void Lds::carryRead(int wave, const Op &op, const LdsAccess &access) {
  forEachLane(access.lanes, [&](int lane) {
    const std::uint32_t address = access.address[lane];
    for (std::uint32_t dword = address / 4; dword <= (address + access.count - 1) / 4; ++dword) {
      Cell &cell = cells[dword];
      cell.readers = (cell.readers >> 16 == epoch ? cell.readers : epoch << 16) | 1u << wave;
      cell.readerOp = op.index;
    }
  });
}

} // namespace kw::detail
