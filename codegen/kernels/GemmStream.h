// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who does what in a stream-K grid: the arithmetic of ir/StreamShares.h on run-time sizes. All
// values are uniform and i32: a guard keeps the number of steps below 2^31.
#pragma once

#include "codegen/kernels/TileBuilder.h"
#include "ir/WorkgroupMapping.h"

namespace kw {

/// A workgroup's steps of the line.
struct StreamShare {
  mlir::Value position, begin, end;
};

/// A part of a tile, or a whole one.
struct StreamPiece {
  mlir::Value place;     ///< of the tile
  mlir::Value firstStep; ///< of the tile
  mlir::Value steps;
  mlir::Value batch, row, column; ///< of the tile
};

class StreamWalk {
public:
  StreamWalk(TileBuilder &tiles, const WorkgroupMapping &mapping, mlir::Value tilesM,
             mlir::Value batches);

  StreamShare share();
  /// The piece that begins with `step` of the line, in a share up to `end`.
  StreamPiece pieceAt(mlir::Value step, mlir::Value end);
  /// First and last position that have a part of the tile at `place`.
  std::pair<mlir::Value, mlir::Value> ownersOf(mlir::Value place);

private:
  /// Every workgroup has `base` steps, the first `rest` of them one more.
  struct Division {
    mlir::Value workgroups, base, rest;
  };
  Division divide();
  mlir::Value ownerOf(mlir::Value step, const Division &division);

  TileBuilder &tiles;
  const WorkgroupMapping &mapping;
  mlir::Value tilesM, tilesOfBatch, batches;
};

} // namespace kw
