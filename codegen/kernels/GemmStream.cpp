// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/GemmStream.h"

#include <tuple>

using namespace mlir;

namespace kw {

StreamWalk::StreamWalk(TileBuilder &tiles, const WorkgroupMapping &mapping, Value tilesM,
                       Value batches)
    : tiles(tiles), mapping(mapping), tilesM(tilesM),
      tilesOfBatch(tiles.mul(tilesM, mapping.tilesN)) {
  Value line = tiles.mul(tiles.mul(tilesOfBatch, mapping.sharedSteps), batches);
  Value workgroups = tiles.umin(line, tiles.constant(mapping.walkers));
  base = tiles.uniformQuotient(line, workgroups);
  rest = tiles.sub(line, tiles.mul(base, workgroups));
  position = tiles.tileOf(tiles.workgroupIndex(), workgroups, 1, mapping.xcds, 0).first;
  begin = tiles.add(tiles.mul(position, base), tiles.umin(position, rest));
  Value next = tiles.add(position, 1);
  end = tiles.add(tiles.mul(next, base), tiles.umin(next, rest));
}

StreamPiece StreamWalk::pieceAt(Value step) {
  StreamPiece piece;
  piece.place = tiles.div(step, mapping.sharedSteps);
  piece.firstStep = tiles.sub(step, tiles.mul(piece.place, mapping.sharedSteps));
  Value ofTile = tiles.sub(tiles.constant(mapping.sharedSteps), piece.firstStep);
  piece.steps = tiles.umin(ofTile, tiles.sub(end, step));
  piece.batch = tiles.uniformQuotient(piece.place, tilesOfBatch);
  Value inBatch = tiles.sub(piece.place, tiles.mul(piece.batch, tilesOfBatch));
  std::tie(piece.row, piece.column) =
      tiles.tileOf(inBatch, tilesM, mapping.tilesN, /*xcds=*/1, mapping.groupM);
  return piece;
}

std::pair<Value, Value> StreamWalk::ownersOf(Value place) {
  Value first = tiles.mul(place, mapping.sharedSteps);
  return {ownerOf(first), ownerOf(tiles.add(first, mapping.sharedSteps - 1))};
}

Value StreamWalk::ownerOf(Value step) {
  Value longer = tiles.add(base, 1);
  Value inLonger = tiles.mul(rest, longer);
  Value behind = tiles.uniformQuotient(tiles.sub(step, inLonger), base);
  return tiles.select(tiles.lessThan(step, inLonger), tiles.uniformQuotient(step, longer),
                      tiles.add(rest, behind));
}

} // namespace kw
