// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/LdsLayout.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace kw {
namespace {

constexpr int granuleBytes = 16;
constexpr int chunkBytes = 1024; ///< 64 lanes x 16 bytes: what one direct load puts contiguously
constexpr int largestWave = 64;

constexpr int bit(int value, int index) { return (value >> index) & 1; }

/// A k-contiguous row of `span` bytes; lanes read 16-byte granules of 16 or 32 neighbouring rows.
/// A phase of ds_read_b128 has 16 lanes, one for each of the 16 slots of 16 bytes in a row of
/// banks. Rows that start at the same bank must differ in f, and for 16x16x32 also rows 0-3, 12-15
/// (one granule) from rows 4-11 (the next granule): hence the mixed bits at span 64.
int fragmentMask(int row, int span) {
  switch (span) {
  case 32:
    return bit(row, 3);
  case 64:
    return bit(row, 2) | (bit(row, 2) ^ bit(row, 3)) << 1;
  case 128:
    return (row >> 1) & 7;
  default:
    return row & 15;
  }
}

/// A row of one k, 16-bit elements; ds_read_b64_tr_b16 reads groups of 16 elements (32 bytes), so
/// the mask moves pairs of granules. A phase has 32 lanes of 8 bytes: rows 0-3 and 8-11 of one
/// group (16x16x32), or rows 0-3 of two neighbouring groups (32x32x16).
int transposingMask16(int row, int span) {
  switch (span) {
  case 32:
    return 0;
  case 64:
    return bit(row, 3) << 1;
  case 128:
    return bit(row, 3) << 1 | bit(row, 1) << 2;
  default:
    return bit(row, 3) << 1 | (row & 3) << 2;
  }
}

/// A row of one k, 8-bit elements; ds_read_b64_tr_b8 reads groups of 16 bytes, one granule. A phase
/// has rows 0-7 and 16-23 of one group (16x16x64), or rows 0-7 of two neighbouring groups
/// (32x32x32).
int transposingMask8(int row, int span) {
  switch (span) {
  case 16:
    return 0;
  case 32:
    return bit(row, 4);
  case 64:
    return bit(row, 4) | bit(row, 2) << 1;
  case 128:
    return bit(row, 4) | ((row >> 1) & 3) << 1;
  default:
    return bit(row, 4) | (row & 7) << 1;
  }
}

/// A row of one k, 32-bit elements, a lane reads one. All 64 lanes are one phase: 16 columns of
/// rows 0-3 (16x16x4), or 32 columns of rows 0 and 1 (32x32x2).
int columnMask32(int row, int span) {
  switch (span) {
  case 16:
  case 32:
  case 64:
    return 0;
  case 128:
    return bit(row, 1) << 2;
  default:
    return bit(row, 1) << 2 | bit(row, 0) << 3;
  }
}

int rowAlongKMask(int row, int span, int elementBytes) {
  switch (elementBytes) {
  case 1:
    return transposingMask8(row, span);
  case 2:
    return transposingMask16(row, span);
  default:
    return columnMask32(row, span);
  }
}

} // namespace

int TileLayout::granuleMask(int row) const {
  if (layout != LdsLayout::swizzle) {
    return 0;
  }
  // A row of 192 bytes is closed under XOR only within 64: the largest power of two dividing it.
  const int span = rowBytes & -rowBytes;
  return rowsAlongK ? rowAlongKMask(row, span, elementBytes) : fragmentMask(row, span);
}

std::int64_t TileLayout::address(int row, int byte) const {
  assert(byte >= 0 && byte < rowBytes && row >= 0);
  const std::int64_t linear = std::int64_t(row) * rowBytes + byte;
  switch (layout) {
  case LdsLayout::plain:
    return linear;
  case LdsLayout::swizzle:
    return linear - byte + granule(row, byte / granuleBytes) * granuleBytes + byte % granuleBytes;
  case LdsLayout::padding:
    return path == OperandPath::lds ? linear + std::int64_t(row) * granuleBytes
                                    : linear + linear / chunkBytes * granuleBytes;
  }
  return linear;
}

std::int64_t TileLayout::bytes() const {
  const std::int64_t linear = std::int64_t(rows) * rowBytes;
  if (layout != LdsLayout::padding) {
    return linear;
  }
  const std::int64_t pads = path == OperandPath::lds ? rows : linear / chunkBytes;
  return linear + pads * granuleBytes;
}

int bankAccesses(const LdsPhases &phases, std::span<const std::int64_t> laneAddress) {
  // Distinct dwords per (phase, bank); a wave touches at most 64 lanes x 4 dwords.
  constexpr int dwordsPerLane = 4;
  std::array<std::int64_t, largestWave * dwordsPerLane> dwords{};
  const int width = std::max(1, phases.bytesPerLane / 4);
  assert(laneAddress.size() <= largestWave && width <= dwordsPerLane);
  int total = 0;
  for (int phase = 0; phase < phases.phases; ++phase) {
    std::size_t used = 0;
    for (std::size_t lane = 0; lane < laneAddress.size(); ++lane) {
      for (int d = 0; phases.phaseOfLane[lane] == phase && d < width; ++d) {
        dwords[used++] = laneAddress[lane] / 4 + d;
      }
    }
    std::sort(dwords.begin(), dwords.begin() + used);
    const auto end = std::unique(dwords.begin(), dwords.begin() + used);
    std::array<int, 64> load{};
    for (auto dword = dwords.begin(); dword != end; ++dword) {
      ++load[*dword % phases.banks];
    }
    total += *std::max_element(load.begin(), load.end());
  }
  return total;
}

double ldsCycles(const Target &target, int bytesPerLane, bool write,
                 std::span<const std::int64_t> laneAddress) {
  const int port = write ? target.ldsWriteBytesPerClock : target.ldsReadBytesPerClock;
  for (const LdsPhases &phases : target.ldsPhases) {
    if (phases.bytesPerLane == bytesPerLane && phases.write == write) {
      const double clocksPerAccess =
          double(laneAddress.size()) * bytesPerLane / port / phases.phases;
      return bankAccesses(phases, laneAddress) * clocksPerAccess;
    }
  }
  std::array<std::uint8_t, largestWave> phaseOfLane{};
  const int lanesAtOnce = std::clamp(port / bytesPerLane, 1, largestWave);
  for (int lane = 0; lane < largestWave; ++lane) {
    phaseOfLane[lane] = static_cast<std::uint8_t>(lane / lanesAtOnce);
  }
  const LdsPhases consecutive{bytesPerLane, write, port / 4, largestWave / lanesAtOnce,
                              phaseOfLane};
  return bankAccesses(consecutive, laneAddress);
}

} // namespace kw
