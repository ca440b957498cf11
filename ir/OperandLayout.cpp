// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/OperandLayout.h"

#include "ir/ResultRows.h"

#include <algorithm>
#include <cassert>

namespace kw {
namespace {

constexpr int lanes = 64;
constexpr int granuleBytes = 16;
constexpr int chunkElements = 16;      ///< of k, of 8-bit elements with two chunks a lane
constexpr int transposingColumns = 16; ///< that one such read covers per group of 16 lanes

template <typename T> constexpr T ceilDiv(T a, T b) { return (a + b - 1) / b; }

/// Byte of a lane's vector in the tile as it lies in LDS before padding.
std::int64_t linearByte(const OperandTile &tile, int piece, int wave, int lane) {
  const std::int64_t chunk = std::int64_t(piece) * tile.waves + wave;
  return (chunk * lanes + lane) * tile.vectorBytes;
}

/// Elements of k that one lane holds of a fragment.
int elementsPerLane(const OperandTile &tile) { return tile.fragmentRows * tile.fragmentK / lanes; }

/// ds_read_b64_tr_b16, _b8 and _b4; ds_read_b96_tr_b6.
int transposingReadBytes(const OperandTile &tile) { return tile.elementBits == 6 ? 12 : 8; }

bool hasTwoChunks(const OperandTile &tile) {
  return tile.elementBits == 8 && elementsPerLane(tile) == 2 * chunkElements;
}

/// First element of k, from the fragment's, of part `part` of `parts` of what a lane of group
/// `group` holds.
int firstK(const OperandTile &tile, int group, int part, int parts) {
  const int element = part * (elementsPerLane(tile) / parts);
  return hasTwoChunks(tile) ? element / chunkElements * (tile.fragmentK / 2) +
                                  group * chunkElements + element % chunkElements
                            : group * elementsPerLane(tile) + element;
}

/// Transposing reads: within 16 lanes, each row of 16 elements is read by as many lanes as their
/// bytes make it; afterwards lane l holds column l of all rows. [gfx950.md 2.5]
std::int64_t transposingAddress(const OperandTile &tile, int column, int slice, int read,
                                int lane) {
  const int readBytes = transposingReadBytes(tile);
  const int rows = readBytes * 8 / tile.elementBits; // 4 of b16, 8 of b8, 16 of b6 and b4
  const int lanesPerRow = transposingColumns / rows;
  const int group = lane / 16; // of 16 columns, and for 16-wide fragments of k
  const int columnGroups = tile.fragmentRows / transposingColumns;
  const int kGroup = group / columnGroups;
  const int row =
      slice * tile.fragmentK + firstK(tile, kGroup, read, tile.reads) + lane % 16 / lanesPerRow;
  const int first = column + group % columnGroups * transposingColumns;
  return tile.layout.address(row, tile.bytesOfRow(first) + lane % lanesPerRow * readBytes);
}

/// The row of the tile that `staged` holds: inverse of stagedRow.
int rowOf(const OperandTile &tile, int staged) {
  if (tile.halves == 1) {
    return staged;
  }
  const int half = staged / (tile.rows / 2), within = staged % (tile.rows / 2);
  const int halfRows = tile.waveRows / 2;
  return within / halfRows * tile.waveRows + half * halfRows + within % halfRows;
}

} // namespace

int stagedRow(const OperandTile &tile, int row) {
  if (tile.halves == 1) {
    return row;
  }
  const int halfRows = tile.waveRows / 2;
  const int wave = row / tile.waveRows, within = row % tile.waveRows;
  return within / halfRows * (tile.rows / 2) + wave * halfRows + within % halfRows;
}

OperandTile operandTile(const Gemm &gemm, const GemmSchedule &schedule, TileOperand operand) {
  assert(operand == TileOperand::a || operand == TileOperand::b);
  const bool isA = operand == TileOperand::a;
  const auto &tiling = schedule.tiling;
  const auto &decided = isA ? schedule.a : schedule.b;
  const bool kContiguous = isA ? gemm.aKContiguous() : gemm.bKContiguous();
  const int outer = isA ? tiling.m : tiling.n;

  OperandTile tile;
  tile.operand = operand;
  tile.elementBits = bitWidth(isA ? gemm.aType : gemm.bType);
  tile.layout.elementBytes = std::max(1, tile.elementBits / 8);
  tile.vectorBytes = decided.vectorBytes;
  tile.waves = schedule.waves();
  tile.rows = kContiguous ? outer : tiling.k;
  tile.layout.layout = decided.layout;
  tile.layout.path = decided.path;
  tile.layout.rowsAlongK = !kContiguous;
  tile.layout.rowBytes = tile.bytesOfRow(kContiguous ? tiling.k : outer);

  const int pieceBytes = tile.waves * lanes * tile.vectorBytes;
  tile.pieces = ceilDiv(tile.rows * tile.layout.rowBytes, pieceBytes);
  tile.layout.rows = ceilDiv(tile.pieces * pieceBytes, tile.layout.rowBytes);

  tile.fragmentRows = isA ? tiling.mfmaM : tiling.mfmaN;
  tile.fragmentK = tiling.mfmaK;
  tile.waveRows = ceilDiv(outer, isA ? tiling.wavesM : tiling.wavesN);
  tile.fragments = ceilDiv(tile.waveRows, tile.fragmentRows);
  tile.slices = ceilDiv(tiling.k, tiling.mfmaK * tiling.wavesK);
  tile.halves = schedule.pipeline.quadrants && tile.waveRows > 1 && tile.rows > 1 ? 2 : 1;
  const int laneBytes = elementsPerLane(tile) * tile.elementBits / 8;
  // The largest power of two that divides a lane's bytes.
  const int whole = laneBytes & -laneBytes;
  tile.readBytes = tile.transposingReads() ? std::min(laneBytes, transposingReadBytes(tile))
                                           : std::min(whole, granuleBytes);
  tile.reads = tile.readBytes > 0 ? laneBytes / tile.readBytes : 1;
  if (!isA && tile.layout.path == OperandPath::registers) {
    tile.packed = preshuffledLayout(gemm);
    tile.pieces = tile.fragments * tile.slices * tile.packsPerFragment();
    tile.layout.rows = 0;
  }
  return tile;
}

TilePosition loadedPosition(const OperandTile &tile, int piece, int wave, int lane) {
  const std::int64_t linear = linearByte(tile, piece, wave, lane);
  const int row = static_cast<int>(linear / tile.layout.rowBytes);
  const int byte = static_cast<int>(linear % tile.layout.rowBytes);
  if (tile.layout.path == OperandPath::lds) {
    return {rowOf(tile, row), byte};
  }
  const int granule = tile.layout.granule(row, byte / granuleBytes);
  return {rowOf(tile, row), granule * granuleBytes + byte % granuleBytes};
}

std::int64_t stagedAddress(const OperandTile &tile, int piece, int wave, int lane) {
  const TilePosition position = loadedPosition(tile, piece, wave, lane);
  return tile.layout.address(stagedRow(tile, position.row), position.byte);
}

std::int64_t fragmentAddress(const OperandTile &tile, int waveIndex, int fragment, int slice,
                             int read, int lane) {
  const int firstRow = waveIndex * tile.waveRows + fragment * tile.fragmentRows;
  if (tile.transposingReads()) {
    return transposingAddress(tile, firstRow, slice, read, lane);
  }
  const int outer = firstRow + lane % tile.fragmentRows;
  const int group = lane / tile.fragmentRows, first = slice * tile.fragmentK;
  if (tile.layout.rowsAlongK) {
    return tile.layout.address(first + group * elementsPerLane(tile), outer * tile.elementBytes());
  }
  const int byte =
      hasTwoChunks(tile)
          ? first + firstK(tile, group, read, tile.reads)
          : (first + group * elementsPerLane(tile)) * tile.elementBits / 8 + read * tile.readBytes;
  return tile.layout.address(stagedRow(tile, outer), byte);
}

std::int64_t packedAddress(const OperandTile &tile, int waveIndex, int fragment, int slice,
                           int lane, int pack) {
  const std::int64_t column =
      waveIndex * tile.waveRows + fragment * tile.fragmentRows + lane % tile.fragmentRows;
  const int k = slice * tile.fragmentK +
                firstK(tile, lane / tile.fragmentRows, pack, tile.packsPerFragment());
  return tile.packed.index(column, k) * tile.elementBits / 8;
}

ResultPosition resultPosition(int size, bool swapped, int reg, int lane) {
  const int groups = lanes / size;
  const int i = reg / 4 * 4 * groups + lane / size * 4 + reg % 4;
  const int j = lane % size;
  return swapped ? ResultPosition{j, i} : ResultPosition{i, j};
}

ResultPosition exchangedPosition(int size, int reg, int lane) {
  const int group = lane / size;
  if (size == 16) { // odd groups hold what the second fragment's even ones had
    return {lane % size, group % 2 * size + group / 2 * 8};
  }
  return {lane % size, reg / 8 * 16 + group * 8};
}

int storeElements(EpiloguePath path) {
  constexpr int neighbours = 4; // registers that follow one another along n when swapped
  switch (path) {
  case EpiloguePath::swap:
    return neighbours;
  case EpiloguePath::permlane:
    return 2 * neighbours;
  case EpiloguePath::direct:
  case EpiloguePath::lds:
    break;
  }
  return 1;
}

ResultStores resultStores(const Gemm &gemm, const GemmSchedule &schedule) {
  const int registers = ceilDiv(schedule.tiling.mfmaM * schedule.tiling.mfmaN, lanes);
  const int elementBytes = std::max(1, bitWidth(gemm.outType) / 8);
  ResultStores result;
  int perStore = storeElements(schedule.epilogue);
  result.fragments = registers < perStore ? 2 : 1;
  if (schedule.epilogue == EpiloguePath::lds) {
    const ResultRows rows = resultRows(gemm, schedule);
    perStore = rows.elements;
    result.fragments = rows.fragmentsM * rows.fragmentsN;
  }
  const int all = result.fragments * registers;
  result.stores = ceilDiv(all, perStore * gemm.columnsPerResult());
  result.bytes = perStore * elementBytes;
  result.conversions =
      (gemm.alpha != 1 ? all : 0) + (gemm.outType != gemm.accType ? ceilDiv(all, 2) : 0);
  if (schedule.epilogue == EpiloguePath::permlane) {
    result.conversions += all / 4; // one for two registers of two elements each
  }
  return result;
}

std::int64_t kSteps(const Gemm &gemm, int tileK) { return ceilDiv<std::int64_t>(gemm.k, tileK); }

KRange kRange(const Gemm &gemm, int tileK, std::int64_t step) {
  const std::int64_t first = gemm.k - (kSteps(gemm, tileK) - 1) * tileK;
  return step == 0 ? KRange{0, first} : KRange{first + (step - 1) * tileK, tileK};
}

} // namespace kw
