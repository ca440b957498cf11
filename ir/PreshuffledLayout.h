// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How weights lie in memory that were packed once (preshuffle=1), so that a lane's part of a matrix
// operand is one 16-byte load straight to registers and the loads of a wave are contiguous:
//
//   [n / 16][k / blockK][4][16][16 bytes of k],   blockK = 64 bytes of k
//
// A block of 16 columns x blockK is 1 KiB: the operand of one 16x16 instruction with 16 bytes a
// lane (lane = column + 16 * group of k), or, two neighbours of them, of two 32x32 instructions;
// the operand of 16x16x128 of 8-bit elements is two blocks. Columns are padded to a multiple of 16
// with zeros; k must be a multiple of blockK.
#pragma once

#include "ir/ops/Gemm.h"

#include <cstdint>

namespace kw {

struct PreshuffledLayout {
  static constexpr int columns = 16;   ///< of a block
  static constexpr int groups = 4;     ///< of k in a block
  static constexpr int packBytes = 16; ///< neighbours along k
  static constexpr int blockBytes = 1024;

  std::int64_t n = 0, k = 0;
  int elementBytes = 2;
  int perByte = 1; ///< elements in elementBytes: 2 of 4 bits

  int packElements() const { return packBytes / elementBytes * perByte; }
  int blockK() const { return groups * packElements(); }
  std::int64_t blocksN() const { return (n + columns - 1) / columns; }
  std::int64_t blocksK() const { return (k + blockK() - 1) / blockK(); }
  std::int64_t elements() const {
    return blocksN() * blocksK() * (blockBytes / elementBytes * perByte);
  }
  /// From the blocks of 16 columns to the next ones.
  std::int64_t pitchBytes() const { return blocksK() * blockBytes; }
  /// Element (k, n) of b within one packed matrix; packElements() of k follow one another.
  std::int64_t index(std::int64_t column, std::int64_t row) const;
};

/// Of a problem's b. 6-bit elements count as bytes; rules refuse them.
PreshuffledLayout preshuffledLayout(const Gemm &gemm);

} // namespace kw
