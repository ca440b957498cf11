// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which lane moves which bytes of a GEMM operand's tile: global memory -> LDS -> fragments of
// matrix instructions, and which element of the result each accumulator register holds. Pure
// functions: codegen emits these addresses, the cost model counts their bank conflicts, tests check
// them.
//
// An operand's tile is `rows` x `layout.rowBytes`, rows in the outer storage direction:
//   k contiguous (a=mk, b=nk): rows along m or n, a row holds tileK elements
//   m or n contiguous (a=km, b=kn): rows along k, a row holds tileM or tileN elements; transposing
//                              reads of 4- to 16-bit elements, plain ones of 32-bit elements
// In quadrants (halves = 2) a stage holds the first halves of all waves' rows, then the second
// ones, so that each half is read, freed and loaded again on its own:
//   staged row  h * rows/2 + w * waveRows/2 + r   holds row  w * waveRows + h * waveRows/2 + r
// It is loaded in chunks of 64 lanes x vectorBytes; wave w takes chunk `piece * waves + w`. The
// last piece may reach behind the tile: every wave issues the same number of loads, lanes outside
// get an offset out of range (zeros), and the stage in LDS has room for them (`layout.rows` >=
// `rows`).
//
// With path=registers (packed weights) nothing goes through LDS: a piece is a fragment of the wave,
// `piece = slice * fragments + fragment`, loaded as the matrix instruction wants it.
//
// 4- and 6-bit elements lie packed, 24 bytes a lane of 6 bits are read in three parts of 8. Of
// 8-bit elements with 32 a lane (16x16x128, 32x32x64) lane group g of G holds two chunks: k = 16 g
// .. and k = 16 G + 16 g .. [gfx950.md 2.3]
#pragma once

#include "ir/LdsLayout.h"
#include "ir/LoopGraph.h"
#include "ir/PreshuffledLayout.h"
#include "ir/ops/Gemm.h"

namespace kw {

struct OperandTile {
  TileOperand operand = TileOperand::none;
  TileLayout layout;
  int rows = 0;
  int vectorBytes = 0;
  int waves = 1;  ///< of the workgroup
  int pieces = 0; ///< loads of one lane

  int fragmentRows = 0; ///< of the matrix instruction along m or n: 16 or 32
  int fragmentK = 0;    ///< its k
  int waveRows = 0;     ///< of the wave's tile along m or n
  int fragments = 0;    ///< waveRows / fragmentRows
  int slices = 0;       ///< of one wave: tileK / fragmentK / waves along k
  int readBytes = 0;    ///< a lane, of one LDS read instruction
  int reads = 1;        ///< LDS read instructions of one fragment
  int halves = 1;       ///< 2: in quadrants
  int elementBits = 16;
  PreshuffledLayout packed; ///< path=registers

  int elementBytes() const { return layout.elementBytes; } ///< 1 for 4- and 6-bit elements
  int bytesOfRow(int elements) const { return (elements * elementBits + 7) / 8; }
  /// Fragments are turned by LDS reads. 32-bit elements need no turning: a lane holds one k.
  bool transposingReads() const { return layout.rowsAlongK && layout.elementBytes < 4; }
  /// Of one stage: a multiple of 16.
  std::int64_t stageBytes() const { return (layout.bytes() + 15) / 16 * 16; }
  std::int64_t halfBytes() const { return stageBytes() / halves; }
  int halfOfPiece(int piece) const { return piece * halves / pieces; }
  int halfOfFragment(int fragment) const { return fragment * halves / fragments; }
  int registersPerFragment() const { return reads * readBytes / 4; }
  /// Packed weights: loads of one fragment, 16 bytes a lane each.
  int packsPerFragment() const { return registersPerFragment() > 4 ? 2 : 1; }
};

/// `operand` is a or b. Any values the parser accepts; divisions by impossible tiles round up.
OperandTile operandTile(const Gemm &gemm, const GemmSchedule &schedule, TileOperand operand);

struct TilePosition {
  int row = 0, byte = 0;
  bool operator==(const TilePosition &) const = default;
};

/// Row of the stage that holds `row` of the tile: itself unless the tile is in quadrants.
int stagedRow(const OperandTile &tile, int row);

/// Bytes [byte, byte + vectorBytes) of `row` of the tile in global memory that a lane fetches. On
/// the direct path LDS receives lanes in order, so the swizzle permutes what they fetch.
TilePosition loadedPosition(const OperandTile &tile, int piece, int wave, int lane);
inline bool isInside(const OperandTile &tile, TilePosition position) {
  return position.row < tile.rows;
}
/// Byte in the stage where that vector lands (direct load) or is written (lds path).
std::int64_t stagedAddress(const OperandTile &tile, int piece, int wave, int lane);

/// Byte in the stage that a lane passes to LDS read `read` of fragment (`fragment`, `slice`) of the
/// wave whose tile starts at row or column `waveIndex * waveRows`.
std::int64_t fragmentAddress(const OperandTile &tile, int waveIndex, int fragment, int slice,
                             int read, int lane);

/// path=registers: byte, from the block of the tile's first column and the step's first k, that a
/// lane of the wave at `waveIndex * waveRows` loads as its part of fragment (`fragment`, `slice`),
/// or as pack `pack` of it.
std::int64_t packedAddress(const OperandTile &tile, int waveIndex, int fragment, int slice,
                           int lane, int pack = 0);

/// Element of the fragment's product. [gfx950.md 2.2]
struct ResultPosition {
  int m = 0, n = 0;
  bool operator==(const ResultPosition &) const = default;
};
/// `size` 16 or 32, `reg` < size * size / 64. `swapped`: b was given as the instruction's first
/// operand, so that four consecutive registers are neighbours along n instead of m.
ResultPosition resultPosition(int size, bool swapped, int reg, int lane);

/// Neighbours along n that a path stores together, whatever n is: 1; 4 with swapped operands; 8
/// where lanes then exchange halves. Through LDS as many as n allows (ir/ResultRows.h).
int storeElements(EpiloguePath path);
inline bool swapsOperands(EpiloguePath path) { return path != EpiloguePath::direct; }

/// Where the 8 neighbours lie that a lane holds after the exchange of four registers of one half
/// with four of the other: two fragments that follow one another along n (size 16: 0 stands for
/// both), or registers `reg` and `reg` + 4 of one (size 32).
ResultPosition exchangedPosition(int size, int reg, int lane);

/// How the result leaves the registers: contiguous elements a lane and store.
struct ResultStores {
  int fragments = 1;   ///< along n, or of one pass through LDS, that the following numbers are for
  int stores = 0;      ///< store instructions
  int bytes = 0;       ///< a lane and store
  int conversions = 0; ///< vector instructions: alpha, conversion in pairs, exchanges
};
ResultStores resultStores(const Gemm &gemm, const GemmSchedule &schedule);

/// K range of a step. Where tileK doesn't divide k, step 0 is the short one: [0, k - (steps-1) *
/// tileK), so that masks stand before the loop only.
struct KRange {
  std::int64_t begin = 0, size = 0;
  bool operator==(const KRange &) const = default;
};
std::int64_t kSteps(const Gemm &gemm, int tileK);
KRange kRange(const Gemm &gemm, int tileK, std::int64_t step);

} // namespace kw
