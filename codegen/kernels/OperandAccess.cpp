// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/OperandAccess.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>

using namespace mlir;

namespace kw {
namespace {

constexpr int waveSize = 64;
constexpr int granuleBytes = 16;
constexpr std::int64_t largestLdsOffset = 65536;
/// Lane offsets of pieces that stay in registers over the loop, as the plan counts them; further
/// ones are added up anew for each load.
constexpr int lanesKept = 8;
constexpr int chunkShift = 10; // padding of the direct path stands after 1 KiB
/// Out of range of every buffer, and stays so with any scalar offset below 2^31 added.
constexpr std::int64_t outOfRange = 0x80000000;

std::string_view ldsName(TileOperand operand) { return operand == TileOperand::a ? "a" : "b"; }

} // namespace

OperandAccess::OperandAccess(KernelShell &shell, const OperandTile &tile,
                             const OperandSource &source, const WorkItem &item,
                             std::vector<int> waveIndexOf,
                             const std::vector<std::int64_t> &stageAddresses, Type fragmentType)
    : tile(tile), from(source), item(item), waveIndexOf(std::move(waveIndexOf)),
      fragmentType(fragmentType), setup(shell.tiles) {
  if (tile.layout.path == OperandPath::registers) {
    for (int piece = 0; piece < tile.pieces; ++piece) {
      preparePackedPiece(piece);
    }
    return;
  }
  makeStages(shell, stageAddresses);
  for (int piece = 0; piece < tile.pieces; ++piece) {
    preparePiece(piece);
  }
  for (int fragment = 0; fragment < tile.fragments; ++fragment) {
    for (int slice = 0; slice < tile.slices; ++slice) {
      for (int read = 0; read < tile.reads; ++read) {
        fragments.push_back(fragmentOffset(fragment, slice, read));
      }
    }
  }
  // Now, before the loop, compute what the stages' accesses will look up.
  for (const Stage &stage : stages) {
    for (const MappedOffset &offset : fragments) {
      readOffset(offset, stage);
    }
    for (const Piece &piece : pieces) {
      if (tile.layout.path == OperandPath::lds) {
        shifted(piece.staged, stage);
      }
    }
  }
}

/// An LDS instruction's offset has 16 bits. Stages above 64 KiB of LDS get lane offsets of their
/// own, a window of 64 KiB sharing one.
void OperandAccess::makeStages(KernelShell &shell,
                               const std::vector<std::int64_t> &stageAddresses) {
  std::int64_t shift = 0;
  Value pinnedShift;
  for (std::size_t stage = 0; stage < stageAddresses.size(); ++stage) {
    const std::int64_t address = stageAddresses[stage];
    if (address + tile.halfBytes() > shift + largestLdsOffset) {
      shift = address;
      pinnedShift = setup.pinScalar(setup.constant(shift));
    }
    Value lds =
        shell.makeLds(fmt::format("{}{:02}", ldsName(tile.operand), stage), tile.halfBytes());
    stages.push_back({lds, shift, pinnedShift});
  }
}

MappedOffset OperandAccess::shifted(const MappedOffset &offset, const Stage &stage) {
  if (!stage.pinnedShift) {
    return offset;
  }
  Value &base = shiftedBases[{offset.base.getAsOpaquePointer(), stage.shift}];
  if (!base) {
    base = setup.add(offset.base, stage.pinnedShift);
  }
  return {base, static_cast<std::int32_t>(offset.immediate - stage.shift)};
}

/// LLVM folds the stage's address into the constants of loads and stores alone. A transposing read
/// is a call to it, whose lane offset already contains the stage.
MappedOffset OperandAccess::readOffset(const MappedOffset &offset, const Stage &stage) {
  return tile.transposingReads() ? offset : shifted(offset, stage);
}

template <typename Function>
std::vector<std::int64_t> OperandAccess::overItems(Function function) const {
  std::vector<std::int64_t> table;
  table.reserve(static_cast<std::size_t>(item.waves) * waveSize);
  for (int wave = 0; wave < item.waves; ++wave) {
    for (int lane = 0; lane < waveSize; ++lane) {
      table.push_back(function(wave, lane));
    }
  }
  return table;
}

/// Bytes by which the swizzle flips addresses of a row; ir says it is linear over XOR.
Value OperandAccess::swizzleMask(Value row) {
  constexpr int rowsOfMask = 32;
  std::vector<std::int64_t> table;
  for (int r = 0; r < rowsOfMask; ++r) {
    table.push_back(static_cast<std::int64_t>(tile.layout.granuleMask(r)) * granuleBytes);
  }
  const std::optional<IndexMap> map = fitIndexMap(table);
  assert(map && "granuleMask is linear over XOR");
  return setup.map(row, *map);
}

void OperandAccess::preparePiece(int piece) {
  Piece prepared;
  findPosition(piece, prepared);
  findLaneOffset(piece, prepared);
  prepared.staged =
      tile.layout.path == OperandPath::direct ? stagedPerWave(piece) : stagedPerLane(piece);
  pieces.push_back(prepared);
}

/// All fragments of a wave lie at constant distances. Where columns may be absent, range checks
/// must see the distance to their fragment; else it is scalar.
void OperandAccess::preparePackedPiece(int piece) {
  constexpr std::int64_t immediates = 4096; // that an instruction's offset holds
  const MappedOffset offset = fragmentMaps.findOrMap(
      setup, overItems([&](int wave, int lane) {
        return packedAddress(tile, waveIndexOf[wave], piece % tile.fragments,
                             item.partOf(wave) * tile.slices + piece / tile.fragments, lane);
      }),
      item.index);
  assert(offset.base && "packed addresses are sums of bits of the index");
  Piece prepared;
  prepared.lane = offset.base;
  prepared.immediate = static_cast<std::int32_t>(offset.immediate % immediates);
  if (offset.immediate >= immediates) {
    Value distance = setup.constant(offset.immediate - prepared.immediate);
    (from.present ? prepared.late : prepared.scalar) = distance;
  }
  pieces.push_back(prepared);
}

/// Rows that are no power of two long need a division, the rest is bits of the index.
void OperandAccess::findPosition(int piece, Piece &result) {
  auto position = [&](int wave, int lane) { return loadedPosition(tile, piece, wave, lane); };
  const MappedOffset row = rowMaps.findOrMap(
      setup, overItems([&](int wave, int lane) { return position(wave, lane).row; }), item.index);
  const MappedOffset byte = byteMaps.findOrMap(
      setup, overItems([&](int wave, int lane) { return position(wave, lane).byte; }), item.index);
  if (row.base && byte.base) {
    result.row = setup.add(row.base, row.immediate);
    result.byte = setup.add(byte.base, byte.immediate);
    return;
  }
  const std::int64_t first = static_cast<std::int64_t>(piece) * item.waves * waveSize;
  Value linear = setup.mul(setup.add(item.index, first), tile.vectorBytes);
  result.row = setup.div(linear, tile.layout.rowBytes);
  result.byte = setup.sub(linear, setup.mul(result.row, tile.layout.rowBytes));
  if (tile.layout.path == OperandPath::direct && tile.layout.layout == LdsLayout::swizzle) {
    result.byte = setup.exclusiveOr(result.byte, swizzleMask(result.row));
  }
}

void OperandAccess::findLaneOffset(int piece, Piece &result) {
  // Where no row can be absent, a piece that lies whole rows behind the first one shares its lane
  // offset and adds a uniform distance: one register instead of one a piece.
  const bool rowsComplete = !from.present || tile.layout.rowsAlongK;
  const TilePosition first = loadedPosition(tile, 0, 0, 0);
  bool allInside = true;
  bool sameBytes = true;
  for (int wave = 0; wave < item.waves; ++wave) {
    for (int lane = 0; lane < waveSize; ++lane) {
      const TilePosition here = loadedPosition(tile, piece, wave, lane);
      const TilePosition there = loadedPosition(tile, 0, wave, lane);
      allInside &= isInside(tile, here);
      sameBytes &= here.byte == there.byte &&
                   here.row - there.row == loadedPosition(tile, piece, 0, 0).row - first.row;
    }
  }
  if (piece > 0 && allInside && sameBytes && (rowsComplete || piece >= lanesKept)) {
    const int rows = loadedPosition(tile, piece, 0, 0).row - first.row;
    result.lane = pieces.front().lane;
    result.rows = rows;
    result.walksLane = !rowsComplete;
    auto [distance, isNew] = distances.try_emplace(rows - pieces.back().rows);
    if (isNew) {
      distance->second = setup.pinScalar(setup.mul(from.pitchBytes, distance->first));
    }
    result.fromPrevious = distance->second;
    return;
  }
  Value offset = setup.add(setup.mul(result.row, from.pitchBytes), result.byte);
  result.lane = maskAbsent(allInside ? -1 : piece, result, offset);
}

/// Lanes behind the tile (`piece` >= 0) and columns behind the matrix load nothing. Absent rows
/// need no mask: they lie behind the buffer's end.
Value OperandAccess::maskAbsent(int piece, const Piece &prepared, Value offset) {
  if (piece >= 0) {
    offset = setup.select(setup.lessThan(prepared.row, setup.constant(tile.rows)), offset,
                          setup.constant(outOfRange));
  }
  if (from.present && tile.layout.rowsAlongK) {
    Value limit = setup.mul(from.present, tile.elementBytes());
    offset = setup.select(setup.lessThan(prepared.byte, limit), offset, setup.constant(outOfRange));
  }
  return offset;
}

MappedOffset OperandAccess::stagedPerWave(int piece) {
  std::vector<std::int64_t> table;
  for (int wave = 0; wave < item.waves; ++wave) {
    table.push_back(stagedAddress(tile, piece, wave, 0));
  }
  const MappedOffset offset = waveMaps.findOrMap(setup, std::move(table), item.wave);
  assert(offset.base && "a wave's chunk lies at a sum of bits of the wave index");
  return offset;
}

MappedOffset OperandAccess::stagedPerLane(int piece) {
  return laidOut(stagedMaps, [&](const OperandTile &of) {
    return overItems([&](int wave, int lane) { return stagedAddress(of, piece, wave, lane); });
  });
}

MappedOffset OperandAccess::fragmentOffset(int fragment, int slice, int read) {
  return laidOut(fragmentMaps, [&](const OperandTile &of) {
    return overItems([&](int wave, int lane) {
      return fragmentAddress(of, waveIndexOf[wave], fragment, item.partOf(wave) * of.slices + slice,
                             read, lane);
    });
  });
}

/// Where rows, waves or chunks are no powers of two, layouts carry from bit to bit of the index.
/// Plain addresses are a sum of bits nevertheless; the layout is applied to them.
MappedOffset
OperandAccess::laidOut(KnownMaps &known,
                       llvm::function_ref<std::vector<std::int64_t>(const OperandTile &)> tableOf) {
  std::vector<std::int64_t> table = tableOf(tile);
  if (const MappedOffset offset = known.findOrMap(setup, table, item.index); offset.base) {
    return offset;
  }
  OperandTile plain = tile;
  plain.layout.layout = LdsLayout::plain;
  const std::optional<IndexMap> map = fitIndexMap(tableOf(plain));
  assert(map && "plain addresses are sums of bits of the index");
  return known.add(std::move(table), fromPlain(setup.map(item.index, *map)));
}

/// TileLayout::address as arithmetic.
Value OperandAccess::fromPlain(Value linear) {
  Value row = setup.div(linear, tile.layout.rowBytes);
  switch (tile.layout.layout) {
  case LdsLayout::plain:
    return linear;
  case LdsLayout::swizzle:
    return setup.exclusiveOr(linear, swizzleMask(row));
  case LdsLayout::padding:
    break;
  }
  Value pads = tile.layout.path == OperandPath::lds ? row : setup.shiftRight(linear, chunkShift);
  return setup.add(linear, setup.mul(pads, granuleBytes));
}

Value OperandAccess::alongK(TileBuilder &tiles, Value k) const {
  if (tile.layout.path == OperandPath::registers) { // whole blocks
    return tiles.mul(k, PreshuffledLayout::columns * tile.elementBytes());
  }
  return tile.layout.rowsAlongK ? tiles.mul(k, from.pitchBytes) : tiles.mul(k, tile.elementBytes());
}

/// In a short step the lanes behind its last k load zeros: what they would find belongs to the next
/// step, or to the next row.
Value OperandAccess::shortStepOffset(TileBuilder &tiles, int number, Value lane,
                                     Value elements) const {
  if (tile.layout.path == OperandPath::registers) {
    Value k = tiles.constant(std::int64_t(number / tile.fragments) * tile.fragmentK);
    if (item.parts > 1) {
      Value part = tiles.div(item.wave, item.waves / item.parts);
      k = tiles.add(tiles.mul(part, std::int64_t(tile.slices) * tile.fragmentK), k);
    }
    Value inside = tiles.lessThan(k, elements);
    return tiles.select(inside, lane, tiles.constant(outOfRange));
  }
  const Piece &piece = pieces[number];
  Value inside = tile.layout.rowsAlongK
                     ? tiles.lessThan(piece.row, elements)
                     : tiles.lessThan(piece.byte, tiles.mul(elements, tile.elementBytes()));
  return tiles.select(inside, lane, tiles.constant(outOfRange));
}

bool OperandAccess::walksScalar() const {
  // Fewer distances than this stay in SGPRs, which leaves LLVM's order of the loop as planned.
  // Fitted: 7 fit beside k-contiguous operands, 6 spill where rows along k take their scalars too.
  const std::ptrdiff_t heldDistances = tile.layout.rowsAlongK ? 5 : 8;
  return std::ranges::count_if(pieces, [](const Piece &piece) {
           return piece.rows > 0 && !piece.walksLane;
         }) > heldDistances;
}

Value OperandAccess::walkTo(TileBuilder &tiles, int piece, Walk &walk, Value step, Value start) {
  const Piece &to = pieces[piece];
  if (walk.step == step && walk.piece == piece - 1) {
    walk.at = tiles.add(walk.at, to.fromPrevious);
  } else if (pieces[piece - 1].rows == 0) {
    walk.at = tiles.add(start, to.fromPrevious);
  } else {
    walk.at = tiles.add(start, tiles.mul(from.pitchBytes, to.rows));
  }
  walk.step = step;
  walk.piece = piece;
  return walk.at;
}

GlobalAddress OperandAccess::address(TileBuilder &tiles, int piece, const StepSource &step) {
  const Piece &prepared = pieces[piece];
  Value lane = prepared.late ? tiles.add(prepared.lane, prepared.late) : prepared.lane;
  Value scalar = prepared.scalar ? tiles.add(step.scalar, prepared.scalar) : step.scalar;
  if (prepared.rows > 0) {
    (prepared.walksLane ? lane : scalar) =
        prepared.walksLane ? walkTo(tiles, piece, laneWalk, step.scalar, prepared.lane)
                           : walkTo(tiles, piece, scalarWalk, step.scalar, step.scalar);
  }
  if (step.shortElements) {
    lane = shortStepOffset(tiles, piece, lane, step.shortElements);
  }
  return {step.buffer, lane, scalar, prepared.immediate};
}

void OperandAccess::loadDirect(TileBuilder &tiles, int piece, int stage, const StepSource &step) {
  const MappedOffset &staged = pieces[piece].staged;
  const int half = tile.halfOfPiece(piece);
  const auto immediate = static_cast<std::int32_t>(staged.immediate - half * tile.halfBytes());
  tiles.copyToLds(address(tiles, piece, step), stages[stage * tile.halves + half].lds, staged.base,
                  immediate, tile.vectorBytes);
}

Value OperandAccess::load(TileBuilder &tiles, int piece, const StepSource &step) {
  return tiles.load(tiles.bitsType(tile.vectorBytes), address(tiles, piece, step));
}

Value OperandAccess::loadFragment(TileBuilder &tiles, int piece, const StepSource &step) {
  Value bits = load(tiles, piece, step);
  return bits.getType() == fragmentType
             ? bits
             : LLVM::BitcastOp::create(tiles.builder, tiles.loc, fragmentType, bits);
}

void OperandAccess::writeLds(TileBuilder &tiles, int piece, int stage, Value value) {
  const MappedOffset staged = shifted(pieces[piece].staged, stages[stage]);
  tiles.storeLds(value, stages[stage].lds, staged.base, staged.immediate);
}

Value OperandAccess::readFragment(TileBuilder &tiles, int fragment, int slice, int stage) {
  SmallVector<Value> lanes;
  SmallVector<std::int32_t> immediates;
  const int half = tile.halfOfFragment(fragment);
  const Stage &source = stages[stage * tile.halves + half];
  for (int read = 0; read < tile.reads; ++read) {
    const MappedOffset offset =
        readOffset(fragments[(fragment * tile.slices + slice) * tile.reads + read], source);
    lanes.push_back(offset.base);
    immediates.push_back(static_cast<std::int32_t>(offset.immediate - half * tile.halfBytes()));
  }
  return tiles.readLds(fragmentType, source.lds, lanes, immediates, tile.transposingReads());
}

} // namespace kw
