// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The LDS of one workgroup and, in strict mode, its shadow: which bytes are defined, who wrote and
// read each dword last, and whether that access is ordered before the one at hand.
//
// Order. Every LDS write instruction of the workgroup gets the next number. A wave completes its
// writes in two sequences, each in order: 2w for ds_* (lgkmcnt), 2w+1 for loads to LDS (vmcnt).
// `completed[s]` is the newest number of sequence s that the wave has waited for; a barrier
// publishes it for everybody. A dword's writer is thus ordered before another wave's access exactly
// if its number is published. Reads are stamped with the barrier epoch in which they happen.
// Writing what already lies there is no race: compilers let several waves write the same tile.
// Parts of a dword (bytes, halves) are told apart as far as one wave writes or reads them.
#pragma once

#include "runtime/emulator/Op.h"

#include <array>
#include <cstdint>
#include <vector>

namespace kw::detail {

struct Wave;

/// One access of some lanes, all in bounds: `count` bytes at `address[lane]`.
struct LdsAccess {
  std::uint64_t lanes = 0;
  const std::uint32_t *address = nullptr;
  unsigned count = 0;
};

class Lds {
public:
  static constexpr std::uint32_t capacity = 163840; ///< bytes of a CU [gfx950.md 1]
  static constexpr int maxWaves = 16;

  Lds(std::uint32_t bytes, bool strict);
  /// Undefined contents again, for the next workgroup.
  void reset();

  std::uint8_t *data() { return contents.data(); }
  std::uint32_t size() const { return bytes; }

  /// Numbers the next write instruction.
  std::uint32_t nextSerial() { return issued < maxSerial ? ++issued : issued; }
  void complete(int wave, bool dma, std::uint32_t serial) { completed[2 * wave + dma] = serial; }
  /// All waves have arrived: what each has waited for is visible to all. `oldest`: the smallest
  /// number of a write that some wave has not waited for; 0: none.
  void barrier(std::uint32_t oldest);

  /// Strict: notes a read, reports races and missing waits on `wave`. Returns the lanes whose bytes
  /// are all defined.
  std::uint64_t noteReads(Wave &wave, const Op &op, const LdsAccess &access);
  /// The reading half of an atomic: only defined bytes matter, other atomics do not.
  std::uint64_t noteAtomics(Wave &wave, const Op &op, const LdsAccess &access);
  struct WriteKind {
    bool dma = false;
    bool atomic = false;
    std::uint32_t serial = 0;
    std::uint64_t validLanes = allLanes;
    const Register *data = nullptr; ///< registers to be stored; null: unknown
  };
  void noteWrites(Wave &wave, const Op &op, const LdsAccess &access, const WriteKind &kind);
  /// A read issued before a barrier that has not been waited for counts after it as well, but not
  /// against loads to LDS issued there: memory takes longer than the LDS queue.
  void carryRead(int wave, const Op &op, const LdsAccess &access);

private:
  static constexpr unsigned sequenceBits = 5;
  static constexpr std::uint32_t maxSerial = (1u << (31 - sequenceBits)) - 1;

  template <unsigned dwords>
  std::uint64_t noteAlignedReads(const Wave &wave, const Op &op, const LdsAccess &access,
                                 bool &doubt);
  template <unsigned dwords>
  bool noteAlignedWrites(const Wave &wave, const LdsAccess &access) const;
  static std::uint32_t sequenceOf(std::uint32_t writer) { return writer % (1u << sequenceBits); }
  void stampReads(int wave, const Op &op, const LdsAccess &access, std::uint32_t mark);
  bool writesSame(const Op &op, const WriteKind &kind, int lane, std::uint32_t address,
                  std::uint32_t dword) const;
  void checkReads(Wave &wave, const Op &op, const LdsAccess &access) const;
  void checkWrites(Wave &wave, const Op &op, const LdsAccess &access, const WriteKind &kind) const;
  /// True if the dword's writer is ordered before an access of `wave`.
  bool isOrdered(std::uint32_t dword, int wave, bool isDma) const;
  void reportWriter(Wave &wave, const Op &op, int lane, std::uint32_t dword, bool isWrite) const;

  std::uint32_t bytes;
  bool strict;
  std::vector<std::uint8_t> contents;
  // Per dword, with some room behind the last.
  std::vector<std::uint32_t> writers;   ///< number << 5 | sequence; 0: nobody
  std::vector<std::uint32_t> writerOps; ///< index << 5 | bytes of the dword << 1 | atomic
  std::vector<std::uint32_t> readers;   ///< epoch << 16 | waves
  std::vector<std::uint32_t> readerOps; ///< bytes << 28 | index; 0 bytes: several, not compared
  std::vector<std::uint8_t> valid;      ///< per byte, 0 or 1
  std::uint32_t epoch = 1;
  std::uint32_t issued = 0;
  /// Writes with smaller numbers are all published: the quick test.
  std::uint32_t firstUnpublished = 1;
  std::array<std::uint32_t, 2 * maxWaves> completed{}, published{};
};

} // namespace kw::detail
