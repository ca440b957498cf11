// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/GemmStream.h"

#include <tuple>

using namespace mlir;

namespace kw {

StreamWalk::StreamWalk(TileBuilder &tiles, const WorkgroupMapping &mapping, Value tilesM,
                       Value batches)
    : tiles(tiles), mapping(mapping), tilesM(tilesM),
      tilesOfBatch(tiles.mul(tilesM, mapping.tilesN)), batches(batches) {}

StreamWalk::Division StreamWalk::divide() {
  Value line = tiles.mul(tiles.mul(tilesOfBatch, mapping.sharedSteps), batches);
  Division division;
  division.workgroups = tiles.umin(line, tiles.constant(mapping.walkers));
  division.base = tiles.uniformQuotient(line, division.workgroups);
  division.rest = tiles.sub(line, tiles.mul(division.base, division.workgroups));
  return division;
}

StreamShare StreamWalk::share() {
  const auto [workgroups, base, rest] = divide();
  Value position = tiles.tileOf(tiles.workgroupIndex(), workgroups, 1, mapping.xcds, 0).first;
  Value begin = tiles.add(tiles.mul(position, base), tiles.umin(position, rest));
  Value next = tiles.add(position, 1);
  Value end = tiles.add(tiles.mul(next, base), tiles.umin(next, rest));
  return {position, begin, end};
}

StreamPiece StreamWalk::pieceAt(Value step, Value end) {
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
  const Division division = divide();
  Value first = tiles.mul(place, mapping.sharedSteps);
  Value last = tiles.add(first, mapping.sharedSteps - 1);
  return {ownerOf(first, division), ownerOf(last, division)};
}

Value StreamWalk::ownerOf(Value step, const Division &division) {
  Value longer = tiles.add(division.base, 1);
  Value inLonger = tiles.mul(division.rest, longer);
  Value behind = tiles.uniformQuotient(tiles.sub(step, inLonger), division.base);
  return tiles.select(tiles.lessThan(step, inLonger), tiles.uniformQuotient(step, longer),
                      tiles.add(division.rest, behind));
}

} // namespace kw
