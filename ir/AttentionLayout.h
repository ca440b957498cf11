// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which lane holds what in decode attention: one wave's tiles of k and v, the scores between the
// two products, the tiles of the packed query rows. Pure functions: codegen emits these addresses,
// the plan counts their bank conflicts, tests check them.
//
// Both products are transposed: S^T = K Q^T (rows of k times columns of q^T), then O^T = V^T P^T. A
// lane then owns one query row (lane mod 16 or 32) in scores, maxima, sums and results alike, and
// the accumulator of the first product is the operand of the second as it is: rows of k are
// multiplied in an order (keyColumn) that puts eight neighbouring columns into one lane.
#pragma once

#include "ir/LdsLayout.h"
#include "ir/LoopGraph.h"
#include "ir/OperandLayout.h"
#include "ir/ops/Attention.h"

namespace kw {

/// Column (sequence position) within a wave's tile that row `row` of fragment `fragment` of k
/// stands for. `size`: 16 or 32, of the matrix instruction.
int keyColumn(int size, int fragment, int row);
/// Column of the tile whose score a lane holds in register `reg`, counted over the fragments of one
/// query fragment. Registers 8 s .. 8 s + 7 are slice s of P.
int scoreColumn(int size, int reg, int lane);

/// One wave's part of a step of k or v: `rows` rows (columns of the sequence) of a head's elements.
/// LDS rows of k are in the order in which fragments take them. In prefill all waves share the tile
/// and load it together; of latent attention v is read from k's tile. Where q has 16 bits, 8-bit
/// elements are converted behind the LDS.
struct KvTile {
  TileOperand operand = TileOperand::k;
  TileLayout layout; ///< of one wave
  int rows = 0;
  int vectorBytes = 0;
  int elementBytes = 2;
  int pieces = 0;       ///< loads of one lane
  int fragmentRows = 0; ///< of the matrix instruction: 16 or 32
  int fragmentK = 0;
  int laneElements = 0; ///< of a fragment: 8, of the wide 8-bit instructions 32
  int fragments = 0;    ///< k: along the columns; v: along dv
  int slices = 0;       ///< k: along d; v: along the columns
  int readBytes = 0;    ///< a lane, of one LDS read
  int reads = 1;        ///< LDS reads of one fragment

  bool inLds() const { return layout.path != OperandPath::registers; }
  /// Of one wave and stage.
  std::int64_t stageBytes() const { return inLds() ? (layout.bytes() + 15) / 16 * 16 : 0; }
  int registersPerFragment() const { return reads * readBytes / 4; }
};

/// What both products are made of: 8 bits where q, k and v have them (then the weights are
/// converted to q's type), else the operands of 16 bits, to which narrower ones are converted.
struct ProductTypes {
  ElementType keys = ElementType::bf16, queries = ElementType::bf16;
};
ProductTypes productTypes(const Attention &attention);

/// Any values the parser accepts; divisions by impossible tiles round up.
KvTile kvTile(const Attention &attention, const AttentionSchedule &schedule, TileOperand operand);

/// Column of the tile and byte within its row that a lane fetches with load `piece`.
TilePosition kvLoadedPosition(const KvTile &tile, int piece, int lane);
/// Byte in the wave's stage where that vector lands (direct load) or is written (lds path).
std::int64_t kvStagedAddress(const KvTile &tile, int piece, int lane);
/// Byte in the wave's stage that a lane passes to LDS read `read` of fragment (fragment, slice).
std::int64_t kvFragmentAddress(const KvTile &tile, int fragment, int slice, int read, int lane);
/// registers path: the load that fetches fragment (fragment, slice).
inline int fragmentPiece(const KvTile &tile, int fragment, int slice) {
  return fragment * tile.slices + slice;
}

/// Where waves share k and v: results of so many registers that they stand in AGPRs.
bool resultsInAgpr(const Attention &attention, const AttentionSchedule &schedule);

/// LDS of the waves' results before they are added: of each wave f32 rows of the output with a pad
/// that spreads rows over the banks; then of each wave maximum and sum of its rows; then the same
/// of all waves together, a copy a wave.
struct WaveResults {
  int rows = 0, dv = 0, waves = 0;
  int rowBytes() const { return dv * 4 + 16; }
  std::int64_t waveBytes() const { return std::int64_t(rows) * rowBytes(); }
  std::int64_t statisticsAt() const { return waves * waveBytes(); }
  std::int64_t totalsAt() const { return statisticsAt() + std::int64_t(waves) * rows * 8; }
  std::int64_t bytes() const { return waves > 1 ? totalsAt() + std::int64_t(waves) * rows * 8 : 0; }
};
WaveResults waveResults(const Attention &attention, const AttentionSchedule &schedule);

/// LDS of a workgroup: the first stage also serves the results of waves that divide the columns.
struct AttentionLds {
  std::int64_t k = 0, v = 0; ///< of one stage, all waves
  int kStages = 0, vStages = 0;
  std::int64_t results = 0; ///< of the allocation that holds them; 0: within the first stage of v
  std::int64_t bytes() const { return k * kStages + v * vStages + results; }
};
AttentionLds attentionLds(const Attention &attention, const AttentionSchedule &schedule);

/// Steps of a query tile: [first, first + count) of `total` for split `split` of `splits`. The
/// first total mod splits have one more.
struct StepRange {
  std::int64_t first = 0, count = 0;
  bool operator==(const StepRange &) const = default;
};
StepRange stepsOfSplit(std::int64_t total, int splits, std::int64_t split);

} // namespace kw
