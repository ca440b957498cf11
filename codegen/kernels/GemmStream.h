// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who does what in a stream-K grid: the arithmetic of ir/StreamShares.h on run-time sizes. All
// values are uniform and i32: a guard keeps the number of steps below 2^31.
#pragma once

#include "codegen/kernels/TileBuilder.h"
#include "ir/WorkgroupMapping.h"

namespace kw {

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

  mlir::Value begin, end; ///< the workgroup's steps of the line
  mlir::Value position;

  /// The piece that begins with `step` of the line.
  StreamPiece pieceAt(mlir::Value step);
  /// First and last position that have a part of the tile at `place`.
  std::pair<mlir::Value, mlir::Value> ownersOf(mlir::Value place);

private:
  mlir::Value ownerOf(mlir::Value step);

  TileBuilder &tiles;
  const WorkgroupMapping &mapping;
  mlir::Value tilesM, tilesOfBatch, base, rest;
};

} // namespace kw
