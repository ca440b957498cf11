// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One GEMM operand's way from global memory through LDS into fragments. Every address comes from
// the functions of ir/OperandLayout.h: base offsets are computed before the loop, and what differs
// by a constant from a base that is there already is an immediate of the instruction.
//
// Range checks. An offset out of range loads zeros. Whether hardware includes the scalar offset in
// the check differs between generations, so nothing relies on it: rows and columns that may be
// absent are masked in the lane's offset, and what advances along k is in the scalar offset.
#pragma once

#include "codegen/kernels/KernelShell.h"
#include "codegen/kernels/KnownMaps.h"
#include "ir/OperandLayout.h"

#include <map>
#include <utility>
#include <vector>

namespace kw {

/// Where an operand's tile begins and how far it may be read; all uniform.
struct OperandSource {
  mlir::Value base;       ///< pointer to the tile's first element at k = 0
  mlir::Value bytes;      ///< i32: readable bytes from there, at most 2^31
  mlir::Value pitchBytes; ///< i32: from row to row of storage
  /// Rows (k contiguous) or columns (m or n contiguous) of the tile that exist, i32; null: all.
  mlir::Value present;
};

/// A step's k range in terms of what the loads need.
struct StepSource {
  mlir::Value scalar;        ///< byte offset of the step's first k
  mlir::Value buffer;        ///< resource; one of zero bytes for steps that don't exist
  mlir::Value shortElements; ///< i32: elements of k in a step that may be short; null: whole
};

/// The wave and lane that the code runs on.
struct WorkItem {
  mlir::Value index; ///< lane + 64 * wave
  mlir::Value wave;  ///< uniform
  int waves = 1;
  int parts = 1; ///< waves along k: the last waves / parts of them do the last slices of a step

  int partOf(int ofWave) const { return ofWave / (waves / parts); }
};

class OperandAccess {
public:
  /// `waveIndexOf[w]`: position of wave w's tile along the operand's m or n. `stageAddresses`:
  /// where LLVM is expected to place the stages in LDS; being wrong costs registers, not
  /// correctness.
  OperandAccess(KernelShell &shell, const OperandTile &tile, const OperandSource &source,
                const WorkItem &item, std::vector<int> waveIndexOf,
                const std::vector<std::int64_t> &stageAddresses, mlir::Type fragmentType);

  const OperandTile &layout() const { return tile; }
  const OperandSource &source() const { return from; }
  /// Whether so many loads walk in the scalar offset from the step's on that LLVM must not see
  /// through it: it would keep an offset each.
  bool walksScalar() const;
  /// Byte offset in memory of element `k` (i32).
  mlir::Value alongK(TileBuilder &tiles, mlir::Value k) const;

  void loadDirect(TileBuilder &tiles, int piece, int stage, const StepSource &step);
  mlir::Value load(TileBuilder &tiles, int piece, const StepSource &step);
  void writeLds(TileBuilder &tiles, int piece, int stage, mlir::Value value);
  mlir::Value readFragment(TileBuilder &tiles, int fragment, int slice, int stage);
  /// path=registers: piece `piece` as the matrix instruction wants it.
  mlir::Value loadFragment(TileBuilder &tiles, int piece, const StepSource &step);

private:
  struct Piece {
    mlir::Value row, byte;      ///< of the lane's vector in the tile
    mlir::Value lane;           ///< its byte offset from the tile's base
    mlir::Value scalar;         ///< what to add to it, uniform; null: 0
    mlir::Value late;           ///< the same, but to be added to `lane` where it is used; null: 0
    int rows = 0;               ///< that lie between the first piece and it, to be walked
    bool walksLane = false;     ///< with the lane's offset, where range checks must see it
    mlir::Value fromPrevious;   ///< distance in bytes from the piece before it, uniform
    MappedOffset staged;        ///< in the stage, per lane (lds path) or per wave (direct path)
    std::int32_t immediate = 0; ///< of the instruction
  };

  template <typename Function> std::vector<std::int64_t> overItems(Function function) const;
  /// An LDS allocation, and the distance to subtract from immediates and add to lane offsets so
  /// that immediates fit an LDS instruction.
  struct Stage {
    mlir::Value lds;
    std::int64_t shift = 0;
    mlir::Value pinnedShift; ///< null: 0
  };

  mlir::Value swizzleMask(mlir::Value row);

  /// Where a step's last load was. Loads come in the order of pieces, so that the next one is a
  /// distance further that most of them share: kept apart, all distances of all unrolled steps
  /// would be loop invariants, an SGPR each.
  struct Walk {
    mlir::Value step, at; ///< the step's scalar offset; what was reached
    int piece = 0;
  };
  mlir::Value walkTo(TileBuilder &tiles, int piece, Walk &walk, mlir::Value step,
                     mlir::Value start);

  void makeStages(KernelShell &shell, const std::vector<std::int64_t> &stageAddresses);
  MappedOffset shifted(const MappedOffset &offset, const Stage &stage);
  MappedOffset readOffset(const MappedOffset &offset, const Stage &stage);
  void preparePiece(int piece);
  void preparePackedPiece(int piece);
  void findPosition(int piece, Piece &result);
  void findLaneOffset(int piece, Piece &result);
  mlir::Value maskAbsent(int piece, const Piece &prepared, mlir::Value offset);
  MappedOffset stagedPerWave(int piece);
  MappedOffset stagedPerLane(int piece);
  MappedOffset fragmentOffset(int fragment, int slice, int read);
  MappedOffset laidOut(KnownMaps &known,
                       llvm::function_ref<std::vector<std::int64_t>(const OperandTile &)> tableOf);
  mlir::Value fromPlain(mlir::Value linear);
  GlobalAddress address(TileBuilder &tiles, int piece, const StepSource &step);
  mlir::Value shortStepOffset(TileBuilder &tiles, int piece, mlir::Value lane,
                              mlir::Value elements) const;

  OperandTile tile;
  OperandSource from;
  WorkItem item;
  std::vector<int> waveIndexOf;
  mlir::Type fragmentType;
  TileBuilder setup;                                                   ///< inserts before the loop
  std::vector<Stage> stages;                                           ///< by stage * halves + half
  std::map<std::pair<void *, std::int64_t>, mlir::Value> shiftedBases; ///< by base and shift
  std::vector<Piece> pieces;
  std::map<int, mlir::Value> distances; ///< by rows
  Walk scalarWalk, laneWalk;
  KnownMaps rowMaps, byteMaps, stagedMaps, waveMaps, fragmentMaps;
  /// By (fragment * slices + slice) * reads + read.
  std::vector<MappedOffset> fragments;
};

} // namespace kw
