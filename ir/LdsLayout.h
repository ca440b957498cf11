// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where element (row, byte) of an operand's tile lies in LDS, and what an access costs in bank
// phases. Written once: codegen emits these addresses, the cost model counts their conflicts.
#pragma once

#include "ir/Schedule.h"
#include "ir/Target.h"

#include <cstdint>
#include <span>

namespace kw {

/// Tile of `rows` x `rowBytes` bytes; the contiguous direction in LDS is that of global memory.
///
///   plain     row * rowBytes + byte
///   swizzle   row * rowBytes + ((byte / 16) ^ f(row)) * 16 + byte % 16, f so that the lanes of one
///             phase of a fragment read hit different banks
///   padding   lds path: row * (rowBytes + 16) + byte
///             direct path: chunk = linear / 1024; linear + chunk * 16 (a wave's 64 x 16 bytes land
///             contiguously, so the pad can only stand between chunks)
struct TileLayout {
  LdsLayout layout = LdsLayout::plain;
  OperandPath path = OperandPath::lds;
  bool rowsAlongK = false; ///< a row holds one k: transposing reads, or 4 bytes a lane
  int elementBytes = 2;
  int rows = 0, rowBytes = 0;

  std::int64_t bytes() const; ///< of one stage
  std::int64_t address(int row, int byte) const;
  /// The swizzle's f: depends on row mod 32 alone and is linear over XOR, f(a ^ b) = f(a) ^ f(b),
  /// so that codegen may compute it once a lane. 0 for other layouts.
  int granuleMask(int row) const;
  /// The swizzle's granule permutation: position in LDS of 16-byte granule `g` of `row`. Its own
  /// inverse.
  int granule(int row, int g) const { return g ^ granuleMask(row); }
};

/// Serialised bank accesses of one wave instruction: per phase the most loaded bank, summed over
/// phases. Lanes with equal dword address are free (broadcast). 4 phases without conflict: 4.
int bankAccesses(const LdsPhases &phases, std::span<const std::int64_t> laneAddress);

/// Shader clocks that the access occupies the CU's LDS: bankAccesses scaled by the port width.
/// Widths without an entry in the target's table are served in consecutive lanes at port width.
double ldsCycles(const Target &target, int bytesPerLane, bool write,
                 std::span<const std::int64_t> laneAddress);

} // namespace kw
