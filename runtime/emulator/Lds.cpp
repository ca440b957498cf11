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

template <class F> void forEachLane(std::uint64_t lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) {
    f(std::countr_zero(lanes));
  }
}

bool allOnes(const std::uint8_t *bytes, unsigned count) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  std::uint64_t both = ones;
  unsigned at = 0;
  for (; at + 8 <= count; at += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, bytes + at, 8);
    both &= eight;
  }
  bool all = both == ones;
  for (; at < count; ++at) {
    all &= bytes[at] != 0;
  }
  return all;
}

/// Bit of `readers`: all of them read before the last barrier.
constexpr std::uint32_t carried = 1u << 31;
std::uint32_t epochOf(std::uint32_t readers) { return (readers & ~carried) >> 16; }

/// Bytes of a dword that an access covers.
std::uint32_t bytesIn(std::uint32_t dword, std::uint32_t address, unsigned count) {
  const std::uint32_t from = std::max(address, 4 * dword),
                      to = std::min(address + count, 4 * dword + 4);
  return ((1u << (to - from)) - 1) << (from - 4 * dword);
}
constexpr std::uint32_t wholeRead = 15u << 28;
std::uint32_t bytesRead(std::uint32_t readerOp) { return readerOp >> 28; }
std::uint32_t bytesWritten(std::uint32_t writerOp) { return writerOp >> 1 & 15; }

unsigned lastDword(std::uint32_t address, unsigned count) { return (address + count - 1) / 4; }

} // namespace

Lds::Lds(std::uint32_t bytes, bool strict) : bytes(bytes) {
  contents.resize((bytes + 63) / 64 * 64 + 64);
  if (strict) {
    const std::size_t dwords = bytes / 4 + 8;
    writers.resize(dwords);
    writerOps.resize(dwords);
    readers.resize(dwords);
    readerOps.resize(dwords);
    valid.resize(contents.size());
  }
}

void Lds::reset() {
  // Not zero: code that relies on zeroed LDS should fail visibly without strict mode, too.
  std::fill(contents.begin(), contents.end(), 0xcd);
  std::fill(writers.begin(), writers.end(), 0);
  std::fill(readers.begin(), readers.end(), 0);
  std::fill(valid.begin(), valid.end(), 0);
  epoch = 1;
  issued = 0;
  firstUnpublished = 1;
  completed.fill(0);
  published.fill(0);
}

void Lds::barrier(std::uint32_t oldest) {
  published = completed;
  firstUnpublished = oldest != 0 ? oldest : issued + 1;
  if (++epoch == 0x7fff) {
    std::fill(readers.begin(), readers.end(), 0);
    epoch = 1;
  }
}

bool Lds::isOrdered(std::uint32_t dword, int wave, bool isDma) const {
  const std::uint32_t sequence = writers[dword] % (1u << sequenceBits);
  const std::uint32_t serial = writers[dword] >> sequenceBits;
  if (static_cast<int>(sequence >> 1) == wave) {
    const bool writerIsDma = sequence & 1;
    return writerIsDma == isDma || !writerIsDma || serial <= completed[sequence];
  }
  return serial <= published[sequence];
}

void Lds::reportWriter(Wave &wave, const Op &op, int lane, std::uint32_t dword,
                       bool isWrite) const {
  const std::uint32_t sequence = writers[dword] % (1u << sequenceBits);
  const bool waited = writers[dword] >> sequenceBits <= completed[sequence];
  const int writer = static_cast<int>(sequence >> 1);
  const KernelCode &kernel = *wave.group->context.kernel;
  const std::uint32_t index = writerOps[dword] >> 5;
  wave.report(waited ? FindingKind::ldsRace : FindingKind::missingWait, op, lane,
              fmt::format("LDS byte {} is {} though wave {} wrote it at {:#x} ({}) {}", 4 * dword,
                          isWrite ? "written" : "read", writer, kernel.offsets[index],
                          kernel.text[index],
                          waited         ? "with no barrier since"
                          : sequence & 1 ? "and no s_waitcnt vmcnt has covered that"
                                         : "and no s_waitcnt lgkmcnt before a barrier has covered "
                                           "that"));
}

// ---- Reads
// ---------------------------------------------------------------------------------------

/// Stamps all dwords and looks quickly for a writer that might not be ordered (`doubt`).
template <unsigned dwords>
std::uint64_t Lds::noteAlignedReads(const Wave &wave, const Op &op, const LdsAccess &access,
                                    bool &doubt) {
  const std::uint32_t limit = firstUnpublished << sequenceBits, self = 1u << wave.id;
  const std::uint32_t stamp = epoch << 16 | self, now = epoch;
  std::uint32_t late = 0;
  std::uint64_t undefined = 0;
  for (std::uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    const std::uint32_t address = access.address[lane], first = address / 4;
    for (unsigned i = 0; i < dwords; ++i) {
      late |= writers[first + i] >= limit;
      const std::uint32_t before = readers[first + i];
      const bool isSame = epochOf(before) == now;
      readers[first + i] = isSame ? (before & ~carried) | self : stamp;
      readerOps[first + i] = op.index | wholeRead;
    }
    undefined |= std::uint64_t{!allOnes(valid.data() + address, 4 * dwords)} << lane;
  }
  doubt = late != 0;
  return access.lanes & ~undefined;
}

void Lds::checkReads(Wave &wave, const Op &op, const LdsAccess &access) const {
  forEachLane(access.lanes, [&](int lane) {
    const std::uint32_t address = access.address[lane];
    for (std::uint32_t dword = address / 4; dword <= lastDword(address, access.count); ++dword) {
      const bool meets =
          (bytesWritten(writerOps[dword]) & bytesIn(dword, address, access.count)) != 0;
      if (writers[dword] != 0 && meets && !isOrdered(dword, wave.id, false)) {
        reportWriter(wave, op, lane, dword, false);
      }
    }
  });
}

std::uint64_t Lds::noteReads(Wave &wave, const Op &op, const LdsAccess &access) {
  std::uint32_t low = 0;
  forEachLane(access.lanes, [&](int lane) { low |= access.address[lane]; });
  bool doubt = true;
  std::uint64_t defined = access.lanes;
  if (low % 4 == 0 && access.count % 4 == 0) {
    defined = access.count == 16   ? noteAlignedReads<4>(wave, op, access, doubt)
              : access.count == 12 ? noteAlignedReads<3>(wave, op, access, doubt)
              : access.count == 8  ? noteAlignedReads<2>(wave, op, access, doubt)
                                   : noteAlignedReads<1>(wave, op, access, doubt);
  } else {
    stampReads(wave.id, op, access, 0);
    forEachLane(access.lanes, [&](int lane) {
      defined &=
          ~(std::uint64_t{!allOnes(valid.data() + access.address[lane], access.count)} << lane);
    });
  }
  if (doubt) {
    checkReads(wave, op, access);
  }
  return defined;
}

void Lds::stampReads(int wave, const Op &op, const LdsAccess &access, std::uint32_t mark) {
  forEachLane(access.lanes, [&](int lane) {
    const std::uint32_t address = access.address[lane];
    for (std::uint32_t dword = address / 4; dword <= lastDword(address, access.count); ++dword) {
      const std::uint32_t before = readers[dword];
      const std::uint32_t stamp =
          epochOf(before) == epoch ? before & (mark | ~carried) : mark | epoch << 16;
      readers[dword] = stamp | 1u << wave;
      const std::uint32_t bytes = bytesIn(dword, address, access.count),
                          earlier = bytesRead(readerOps[dword]);
      const bool isAlone = epochOf(before) != epoch || bytes == earlier;
      const bool isOwn = (before & 0xffff) == 1u << wave;
      const std::uint32_t all = isAlone ? bytes : isOwn ? bytes | earlier : 0;
      readerOps[dword] = op.index | all << 28;
    }
  });
}

void Lds::carryRead(int wave, const Op &op, const LdsAccess &access) {
  stampReads(wave, op, access, carried);
}

std::uint64_t Lds::noteAtomics(Wave &, const Op &, const LdsAccess &access) {
  std::uint64_t defined = access.lanes;
  forEachLane(access.lanes, [&](int lane) {
    defined &=
        ~(std::uint64_t{!allOnes(valid.data() + access.address[lane], access.count)} << lane);
  });
  return defined;
}

// ---- Writes
// --------------------------------------------------------------------------------------

/// True if some dword needs checkWrites.
template <unsigned dwords>
bool Lds::noteAlignedWrites(const Wave &wave, const LdsAccess &access) const {
  const std::uint32_t limit = firstUnpublished << sequenceBits, self = 1u << wave.id, now = epoch;
  std::uint32_t doubt = 0;
  for (std::uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
    const std::uint32_t first = access.address[std::countr_zero(lanes)] / 4;
    for (unsigned i = 0; i < dwords; ++i) {
      doubt |= writers[first + i] >= limit;
      const std::uint32_t before = readers[first + i];
      doubt |= (epochOf(before) == now) & ((before & 0xffff & ~self) != 0);
    }
  }
  return doubt != 0;
}

bool Lds::writesSame(const Op &op, const WriteKind &kind, int lane, std::uint32_t address,
                     std::uint32_t dword) const {
  if (op.memoryType != MemoryType::dwords) {
    const std::uint32_t word = kind.data[0][lane] >> (op.memoryType == MemoryType::d16Hi ? 16 : 0);
    return std::memcmp(&word, &contents[address], op.accessBytes) == 0;
  }
  return address % 4 == 0 &&
         std::memcmp(&kind.data[dword - address / 4][lane], &contents[4 * dword], 4) == 0;
}

void Lds::checkWrites(Wave &wave, const Op &op, const LdsAccess &access,
                      const WriteKind &kind) const {
  const std::uint32_t self = 1u << wave.id;
  const std::uint32_t writer =
      kind.serial << sequenceBits | static_cast<std::uint32_t>(2 * wave.id + kind.dma);
  const KernelCode &kernel = *wave.group->context.kernel;
  forEachLane(access.lanes, [&](int lane) {
    const std::uint32_t address = access.address[lane];
    for (std::uint32_t dword = address / 4; dword <= lastDword(address, access.count); ++dword) {
      if (kind.data && writesSame(op, kind, lane, address, dword)) {
        continue;
      }
      const bool bothAtomic = kind.atomic && (writerOps[dword] & 1);
      const std::uint32_t bytes = bytesIn(dword, address, access.count);
      const bool meets = (bytesWritten(writerOps[dword]) & bytes) != 0;
      if (writers[dword] != 0 && writers[dword] != writer && !bothAtomic && meets &&
          !isOrdered(dword, wave.id, kind.dma)) {
        reportWriter(wave, op, lane, dword, true);
      }
      const std::uint32_t others = readers[dword] & 0xffff & ~self;
      const bool ordered = kind.atomic || (kind.dma && (readers[dword] & carried));
      const bool readsMeet = (bytesRead(readerOps[dword]) & bytes) != 0;
      if (epochOf(readers[dword]) == epoch && others != 0 && !ordered && readsMeet) {
        const std::uint32_t reader = readerOps[dword] & ~wholeRead;
        wave.report(FindingKind::ldsRace, op, lane,
                    fmt::format("LDS byte {} is written though wave {} read it at {:#x} ({}) with "
                                "no barrier since",
                                4 * dword, std::countr_zero(others), kernel.offsets[reader],
                                kernel.text[reader]));
      }
    }
  });
}

void Lds::noteWrites(Wave &wave, const Op &op, const LdsAccess &access, const WriteKind &kind) {
  std::uint32_t low = 0;
  forEachLane(access.lanes, [&](int lane) { low |= access.address[lane]; });
  const bool isWhole = low % 4 == 0 && access.count % 4 == 0;
  bool doubt = true;
  if (isWhole) {
    doubt = access.count == 16   ? noteAlignedWrites<4>(wave, access)
            : access.count == 12 ? noteAlignedWrites<3>(wave, access)
            : access.count == 8  ? noteAlignedWrites<2>(wave, access)
                                 : noteAlignedWrites<1>(wave, access);
  }
  if (doubt) {
    checkWrites(wave, op, access, kind);
  }
  const std::uint32_t writer =
      kind.serial << sequenceBits | static_cast<std::uint32_t>(2 * wave.id + kind.dma);
  const std::uint32_t writerOp = op.index << 5 | (kind.atomic ? 1 : 0);
  forEachLane(access.lanes, [&](int lane) {
    const std::uint32_t address = access.address[lane];
    const std::uint32_t first = address / 4, end = lastDword(address, access.count) + 1;
    if (isWhole) {
      std::fill(writers.begin() + first, writers.begin() + end, writer);
      std::fill(writerOps.begin() + first, writerOps.begin() + end, writerOp | 15 << 1);
    }
    for (std::uint32_t dword = first; dword < end && !isWhole; ++dword) {
      std::uint32_t bytes = bytesIn(dword, address, access.count);
      if (bytes != 15 && sequenceOf(writers[dword]) == sequenceOf(writer) &&
          writers[dword] >> sequenceBits > published[sequenceOf(writer)]) {
        bytes |= bytesWritten(writerOps[dword]); // the wave's other parts are not ordered either
      }
      writers[dword] = writer;
      writerOps[dword] = writerOp | bytes << 1;
    }
    std::memset(valid.data() + address, kind.validLanes >> lane & 1 ? 1 : 0, access.count);
  });
}

} // namespace kw::detail
