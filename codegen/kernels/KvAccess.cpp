// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/KvAccess.h"

#include <cassert>

using namespace mlir;

namespace kw {
namespace {

constexpr int waveSize = 64;

} // namespace

KvAccess::KvAccess(KernelShell &shell, const KvTile &tile, const KvSource &source, Value lane,
                   Value wave, std::vector<Value> stages)
    : tile(tile), from(source), lane(lane), setup(shell.tiles), stages(std::move(stages)) {
  waveBytes = setup.mul(wave, tile.stageBytes());
  for (int piece = 0; piece < tile.pieces; ++piece) {
    pieces.push_back(memoryOffset(piece));
  }
  if (tile.layout.path == OperandPath::lds) {
    for (int piece = 0; piece < tile.pieces; ++piece) {
      staged.push_back(inOwnPart(
          mapped(stagedMaps, [&](int lane) { return kvStagedAddress(tile, piece, lane); })));
    }
  }
  for (int fragment = 0; tile.inLds() && fragment < tile.fragments; ++fragment) {
    for (int slice = 0; slice < tile.slices; ++slice) {
      for (int read = 0; read < tile.reads; ++read) {
        fragments.push_back(inOwnPart(mapped(fragmentMaps, [&](int lane) {
          return kvFragmentAddress(tile, fragment, slice, read, lane);
        })));
      }
    }
  }
}

template <typename Function> MappedOffset KvAccess::mapped(KnownMaps &known, Function function) {
  std::vector<std::int64_t> table;
  for (int each = 0; each < waveSize; ++each) {
    table.push_back(function(each));
  }
  const MappedOffset offset = known.findOrMap(setup, std::move(table), lane);
  assert(offset.base && "rows, columns and head dimensions are powers of two");
  return offset;
}

/// column * pitch + byte: a lane offset for each distance of columns, bytes as immediates.
MappedOffset KvAccess::memoryOffset(int piece) {
  const MappedOffset column =
      mapped(rowMaps, [&](int lane) { return kvLoadedPosition(tile, piece, lane).row; });
  const MappedOffset byte =
      mapped(byteMaps, [&](int lane) { return kvLoadedPosition(tile, piece, lane).byte; });
  Value &offset = laneOffsets[{{column.base.getAsOpaquePointer(), column.immediate},
                               byte.base.getAsOpaquePointer()}];
  if (!offset) {
    Value row = setup.add(column.base, column.immediate);
    offset = setup.add(setup.mul(row, from.pitchBytes), byte.base);
  }
  return {offset, byte.immediate};
}

MappedOffset KvAccess::inOwnPart(const MappedOffset &offset) {
  Value &base = ownParts[offset.base.getAsOpaquePointer()];
  if (!base) {
    base = setup.add(offset.base, waveBytes);
  }
  return {base, offset.immediate};
}

Value KvAccess::stepBuffer(TileBuilder &tiles, Value first, Value present) const {
  Value before = tiles.mul(tiles.widen(first), tiles.widen(from.pitchBytes));
  return tiles.buffer(tiles.advance(from.base, before), tiles.mul(present, from.pitchBytes));
}

Value KvAccess::load(TileBuilder &tiles, int piece, Value buffer) {
  return tiles.load(tiles.bitsType(tile.vectorBytes),
                    {buffer, pieces[piece].base, tiles.constant(0), pieces[piece].immediate});
}

void KvAccess::loadDirect(TileBuilder &tiles, int piece, int stage, Value buffer) {
  tiles.copyToLds({buffer, pieces[piece].base, tiles.constant(0), pieces[piece].immediate},
                  stages[stage], waveBytes,
                  static_cast<std::int32_t>(kvStagedAddress(tile, piece, 0)), tile.vectorBytes);
}

void KvAccess::writeLds(TileBuilder &tiles, int piece, int stage, Value value) {
  tiles.storeLds(value, stages[stage], staged[piece].base, staged[piece].immediate);
}

Value KvAccess::readFragment(TileBuilder &tiles, int fragment, int slice, int stage) {
  SmallVector<Value> lanes;
  SmallVector<std::int32_t> immediates;
  for (int read = 0; read < tile.reads; ++read) {
    const MappedOffset &offset = fragments[(fragment * tile.slices + slice) * tile.reads + read];
    lanes.push_back(offset.base);
    immediates.push_back(offset.immediate);
  }
  const int elements = tile.reads * tile.readBytes / tile.elementBytes;
  return tiles.readLds(tiles.vectorType(elements, from.element), stages[stage], lanes, immediates,
                       tile.layout.rowsAlongK);
}

Value KvAccess::asFragment(TileBuilder &tiles, Value loaded) const {
  return LLVM::BitcastOp::create(
      tiles.builder, tiles.loc,
      tiles.vectorType(tile.vectorBytes / tile.elementBytes, from.element), loaded);
}

} // namespace kw
