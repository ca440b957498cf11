// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// epi=lds: a wave turns its accumulators into rows through LDS, so that neighbouring lanes store
// (and load what the epilogue reads) 16 bytes each of the same row. Each wave has an area of its
// own: waves need no barrier between them, LDS accesses of one wave are done in order, and a wave
// that ends early (split-K) leaves nobody waiting. Pure functions: codegen emits these addresses,
// the plan counts their bank conflicts, tests check them.
//
// In a pass the area holds `rows()` x `columns()` elements of the wave's tile, operands swapped:
// four neighbours along n are written at once, 16-byte granules permuted within a row so that both
// sides are free of bank conflicts (but for writes of 8 bytes, which take as long as 16).
#pragma once

#include "ir/OperandLayout.h"

namespace kw {

/// Where a wave's area lies.
enum class RowsPlace : std::uint8_t {
  loop,   ///< over the loop's stages, after a barrier behind the last step
  slices, ///< slice-K: where its own first partner's sums were, which nobody else reads
  own,    ///< in LDS of its own, where the loop's is too small
};

struct ResultRows {
  int size = 16;                      ///< of a fragment: 16 or 32
  int fragmentsM = 1, fragmentsN = 1; ///< of one pass
  int passesM = 1, passesN = 1;       ///< of the wave's tile
  bool rounded = false;               ///< computed and rounded before LDS: nothing is read
  int elementBytes = 4;               ///< in LDS: of the result if `rounded`, else of the sums
  int elements = 4;                   ///< neighbours along n of a lane's store
  int waves = 1;                      ///< that store
  RowsPlace place = RowsPlace::loop;
  std::int64_t waveBytes = 0; ///< from one wave's area to the next

  int rows() const { return fragmentsM * size; }
  int columns() const { return fragmentsN * size; }
  int rowBytes() const { return columns() * elementBytes; }
  int bytes() const { return rows() * rowBytes(); } ///< of one wave
  int readBytes() const { return elements * elementBytes < 16 ? elements * elementBytes : 16; }
  int reads() const { return elements * elementBytes / readBytes(); } ///< of one store's elements
  int stores() const { return rows() * columns() / (64 * elements); } ///< of one pass
  int passes() const { return passesM * passesN; }
  /// LDS beyond the loop's.
  std::int64_t ownBytes() const { return place == RowsPlace::own ? waves * waveBytes : 0; }
};

/// Any values that the parser accepts. One pass has at most 16 registers a lane, or a row of 128
/// bytes, whichever is more.
ResultRows resultRows(const Gemm &gemm, const GemmSchedule &schedule);

/// Byte in the area of a lane's registers [quad * 4, quad * 4 + 4) of a fragment of the pass.
int writtenAddress(const ResultRows &rows, int fragmentM, int fragmentN, int quad, int lane);
/// First of the elements of a pass that a lane stores in store `store`.
ResultPosition storedPosition(const ResultRows &rows, int store, int lane);
/// Byte in the area of part `read` of them.
int readAddress(const ResultRows &rows, int store, int read, int lane);

} // namespace kw
