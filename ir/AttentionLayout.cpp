// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/AttentionLayout.h"

#include <algorithm>
#include <cassert>

namespace kw {
namespace {

constexpr int lanes = 64;
constexpr int granuleBytes = 16;
constexpr int transposingReadBytes = 8; ///< ds_read_b64_tr_b16
constexpr int transposingRows = 4;      ///< that one such read covers per group of 16 lanes
constexpr int elementsPerLane = 8;      ///< of a fragment: 16x16x32 and 32x32x16 alike

template <typename T> constexpr T ceilDiv(T a, T b) { return (a + b - 1) / b; }

} // namespace

int keyColumn(int size, int fragment, int row) {
  const int inQuad = row % 4;
  if (size == 16) { // two fragments share 32 columns
    return fragment / 2 * 32 + row / 4 * 8 + fragment % 2 * 4 + inQuad;
  }
  return fragment * 32 + row / 16 * 16 + row / 4 % 2 * 8 + row / 8 % 2 * 4 + inQuad;
}

int scoreColumn(int size, int reg, int lane) {
  const int registers = size * size / lanes;
  const ResultPosition position = resultPosition(size, false, reg % registers, lane);
  return keyColumn(size, reg / registers, position.m);
}

KvTile kvTile(const Attention &attention, const AttentionSchedule &schedule, TileOperand operand) {
  assert(operand == TileOperand::k || operand == TileOperand::v);
  const bool isK = operand == TileOperand::k;
  const auto &decided = isK ? schedule.k : schedule.v;
  const auto &tiling = schedule.tiling;
  const int dimension =
      static_cast<int>(std::min<std::int64_t>(isK ? attention.d : attention.dv, 4096));

  KvTile tile;
  tile.operand = operand;
  tile.elementBytes = std::max(1, bitWidth(attention.kvType) / 8);
  tile.rows = tiling.columns;
  tile.vectorBytes = decided.vectorBytes;
  tile.layout.layout = decided.layout;
  tile.layout.path = decided.path;
  tile.layout.rowsAlongK = !isK;
  tile.layout.rowBytes = dimension * tile.elementBytes;
  tile.fragmentRows = tiling.mfmaM;
  tile.fragmentK = tiling.mfmaK;
  tile.fragments = ceilDiv(isK ? tiling.columns : dimension, tiling.mfmaM);
  tile.slices = ceilDiv(isK ? dimension : tiling.columns, tiling.mfmaK);
  const int laneBytes = elementsPerLane * tile.elementBytes;
  tile.readBytes = isK ? laneBytes : transposingReadBytes;
  tile.reads = laneBytes / tile.readBytes;
  const int pieceBytes = lanes * tile.vectorBytes;
  tile.pieces = tile.inLds() ? ceilDiv(tile.rows * tile.layout.rowBytes, pieceBytes)
                             : tile.fragments * tile.slices;
  tile.layout.rows = ceilDiv(tile.pieces * pieceBytes, tile.layout.rowBytes);
  return tile;
}

namespace {

/// Row of the tile in LDS and byte within it of a lane's vector.
TilePosition stagedPosition(const KvTile &tile, int piece, int lane) {
  const int linear = (piece * lanes + lane) * tile.vectorBytes;
  return {linear / tile.layout.rowBytes, linear % tile.layout.rowBytes};
}

/// Column that a row of the tile in LDS holds.
int columnOfRow(const KvTile &tile, int row) {
  return tile.operand == TileOperand::v
             ? row
             : keyColumn(tile.fragmentRows, row / tile.fragmentRows, row % tile.fragmentRows);
}

/// Within 16 lanes, lane s reads 8 bytes of row s / 4; afterwards lane l holds column l of the four
/// rows. [gfx950.md 2.5]
std::int64_t transposingAddress(const KvTile &tile, int fragment, int slice, int read, int lane) {
  const int group = lane / 16;
  const int groupsAlongRow = tile.fragmentRows / 16;
  const int row = slice * tile.fragmentK + group / groupsAlongRow * elementsPerLane +
                  read * transposingRows + lane % 16 / 4;
  const int element = fragment * tile.fragmentRows + group % groupsAlongRow * 16;
  return tile.layout.address(row, element * tile.elementBytes + lane % 4 * transposingReadBytes);
}

} // namespace

TilePosition kvLoadedPosition(const KvTile &tile, int piece, int lane) {
  if (!tile.inLds()) {
    const int fragment = piece / tile.slices, slice = piece % tile.slices;
    const int element = slice * tile.fragmentK + lane / tile.fragmentRows * elementsPerLane;
    return {keyColumn(tile.fragmentRows, fragment, lane % tile.fragmentRows),
            element * tile.elementBytes};
  }
  TilePosition position = stagedPosition(tile, piece, lane);
  if (tile.layout.path == OperandPath::direct) {
    const int granule = tile.layout.granule(position.row, position.byte / granuleBytes);
    position.byte = granule * granuleBytes + position.byte % granuleBytes;
  }
  return {columnOfRow(tile, position.row), position.byte};
}

std::int64_t kvStagedAddress(const KvTile &tile, int piece, int lane) {
  const TilePosition position = stagedPosition(tile, piece, lane);
  if (tile.layout.path == OperandPath::lds) {
    return tile.layout.address(position.row, position.byte);
  }
  // A direct load lays lanes down in order; what they fetch is permuted.
  TileLayout inOrder = tile.layout;
  if (inOrder.layout == LdsLayout::swizzle) {
    inOrder.layout = LdsLayout::plain;
  }
  return inOrder.address(position.row, position.byte);
}

std::int64_t kvFragmentAddress(const KvTile &tile, int fragment, int slice, int read, int lane) {
  if (tile.layout.rowsAlongK) {
    return transposingAddress(tile, fragment, slice, read, lane);
  }
  const int row = fragment * tile.fragmentRows + lane % tile.fragmentRows;
  const int element = slice * tile.fragmentK + lane / tile.fragmentRows * elementsPerLane;
  return tile.layout.address(row, element * tile.elementBytes + read * tile.readBytes);
}

WaveResults waveResults(const Attention &attention, const AttentionSchedule &schedule) {
  return {schedule.tiling.rows, static_cast<int>(std::min<std::int64_t>(attention.dv, 4096)),
          schedule.waves};
}

AttentionLds attentionLds(const Attention &attention, const AttentionSchedule &schedule) {
  const auto stages = [&](OperandPath path) {
    switch (path) {
    case OperandPath::lds:
      return 1; // written and read by one wave in order
    case OperandPath::direct:
      return schedule.pipeline.stages;
    case OperandPath::registers:
      break;
    }
    return 0;
  };
  AttentionLds lds;
  lds.k = schedule.waves * kvTile(attention, schedule, TileOperand::k).stageBytes();
  lds.v = schedule.waves * kvTile(attention, schedule, TileOperand::v).stageBytes();
  lds.kStages = stages(schedule.k.path);
  lds.vStages = stages(schedule.v.path);
  const std::int64_t results = waveResults(attention, schedule).bytes();
  lds.results = results > lds.v ? results : 0;
  if (lds.results > 0 && lds.vStages == 1) { // the stage grows instead
    lds.v = lds.results;
    lds.results = 0;
  }
  return lds;
}

StepRange stepsOfSplit(std::int64_t total, int splits, std::int64_t split) {
  const std::int64_t each = total / splits, more = total % splits;
  return {split * each + std::min(split, more), each + (split < more ? 1 : 0)};
}

} // namespace kw
