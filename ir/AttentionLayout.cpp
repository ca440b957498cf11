// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/AttentionLayout.h"

#include <algorithm>
#include <cassert>

namespace kw {
namespace {

constexpr int lanes = 64;
constexpr int granuleBytes = 16;
constexpr int transposingReadBytes = 8; ///< ds_read_b64_tr_b16, ds_read_b64_tr_b8
constexpr int columnRun = 8;            ///< neighbouring columns of a lane: what keyColumn gives it

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

ProductTypes productTypes(const Attention &attention) {
  if (bitWidth(attention.type) <= 8 && bitWidth(attention.kvType) <= 8) {
    return {attention.kvType, attention.type};
  }
  const ElementType wider = bitWidth(attention.type) > 8 ? attention.type : attention.kvType;
  return {wider, wider};
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
  // A row of k holds v too, in front.
  tile.layout.rowBytes =
      (attention.latent() ? static_cast<int>(attention.d) : dimension) * tile.elementBytes;
  tile.fragmentRows = tiling.mfmaM;
  tile.fragmentK = tiling.mfmaK;
  tile.fragments = ceilDiv(isK ? tiling.columns : dimension, tiling.mfmaM);
  tile.slices = ceilDiv(isK ? dimension : tiling.columns, tiling.mfmaK);
  tile.laneElements = std::max(columnRun, ceilDiv(tiling.mfmaM * tiling.mfmaK, lanes));
  const int laneBytes = tile.laneElements * tile.elementBytes;
  tile.readBytes = std::min(laneBytes, isK ? granuleBytes : transposingReadBytes);
  tile.reads = laneBytes / tile.readBytes;
  const int pieceBytes = lanes * tile.vectorBytes * schedule.rowWaves;
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

/// Within 16 lanes, lane s reads 8 bytes of row s / 4 (of 8-bit elements row s / 2); afterwards
/// lane l holds column l of the four (eight) rows. [gfx950.md 2.5] Runs of eight rows go round the
/// groups of lanes, as columns do in the scores.
std::int64_t transposingAddress(const KvTile &tile, int fragment, int slice, int read, int lane) {
  const int group = lane / 16;
  const int groupsAlongRow = tile.fragmentRows / 16;
  const int rows = transposingReadBytes / tile.elementBytes; // 4 of b16, 8 of b8
  const int lanesPerRow = 16 / rows;
  const int inLane = read * rows; // of the rows whose elements the lane ends up with
  const int row = slice * tile.fragmentK +
                  inLane / columnRun * (lanes / tile.fragmentRows * columnRun) +
                  group / groupsAlongRow * columnRun + inLane % columnRun + lane % 16 / lanesPerRow;
  const int element = fragment * tile.fragmentRows + group % groupsAlongRow * 16;
  return tile.layout.address(row, element * tile.elementBytes +
                                      lane % lanesPerRow * transposingReadBytes);
}

} // namespace

TilePosition kvLoadedPosition(const KvTile &tile, int piece, int lane) {
  if (!tile.inLds()) {
    const int fragment = piece / tile.slices, slice = piece % tile.slices;
    const int element = slice * tile.fragmentK + lane / tile.fragmentRows * tile.laneElements;
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
  const int element = slice * tile.fragmentK + lane / tile.fragmentRows * tile.laneElements;
  return tile.layout.address(row, element * tile.elementBytes + read * tile.readBytes);
}

bool resultsInAgpr(const Attention &attention, const AttentionSchedule &schedule) {
  constexpr int most = 128; // VGPRs: scores, queries and fragments take the others
  const KvTile v = kvTile(attention, schedule, TileOperand::v);
  const int registers = ceilDiv(schedule.waveRows(), schedule.tiling.mfmaN) * v.fragments *
                        ceilDiv(schedule.tiling.mfmaM * schedule.tiling.mfmaN, lanes);
  return schedule.rowWaves > 1 && registers >= most;
}

WaveResults waveResults(const Attention &attention, const AttentionSchedule &schedule) {
  return {schedule.tiling.rows, static_cast<int>(std::min<std::int64_t>(attention.dv, 4096)),
          schedule.columnWaves()};
}

AttentionLds attentionLds(const Attention &attention, const AttentionSchedule &schedule) {
  const auto stages = [&](OperandPath path) {
    switch (path) {
    case OperandPath::lds:
      // Written and read by one wave in order, or by all waves that share it.
      return schedule.rowWaves > 1 ? schedule.pipeline.stages : 1;
    case OperandPath::direct:
      return schedule.pipeline.stages;
    case OperandPath::registers:
      break;
    }
    return 0;
  };
  AttentionLds lds;
  lds.k = schedule.columnWaves() * kvTile(attention, schedule, TileOperand::k).stageBytes();
  lds.v = schedule.columnWaves() * kvTile(attention, schedule, TileOperand::v).stageBytes();
  lds.kStages = stages(schedule.k.path);
  lds.vStages = stages(schedule.v.path);
  if (attention.latent()) { // of k, and read a step later
    lds.v = 0;
    lds.vStages = 0;
    lds.kStages += 1;
  }
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
