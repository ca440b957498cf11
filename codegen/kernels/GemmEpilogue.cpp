// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/GemmEpilogue.h"

#include <cassert>
#include <map>

using namespace mlir;

namespace kw {
namespace {

constexpr int waveSize = 64;
constexpr int quad = 4; ///< registers that are neighbours in the result
constexpr std::int64_t outOfRange = 0x80000000;

class ResultWriter {
public:
  ResultWriter(KernelShell &shell, const ResultTarget &target, const ResultFragments &fragments,
               const WorkItem &item)
      : tiles(shell.tiles), target(target), fragments(fragments), item(item),
        elementBytes(bitWidth(target.type) / 8) {
    buffer = tiles.buffer(target.base, target.bytes);
    noScalar = tiles.constant(0);
    laneRow =
        laneMap([&](int wave, int lane) { return fragments.firstRow[wave] + position(0, lane).m; });
    laneColumn = laneMap(
        [&](int wave, int lane) { return fragments.firstColumn[wave] + position(0, lane).n; });
    laneColumnBytes = tiles.mul(laneColumn, elementBytes);
  }

  /// One fragment; its registers in groups of four, converted together.
  void store(int row, int column, Value accumulator) {
    const int registers = fragments.size * fragments.size / waveSize;
    for (int first = 0; first < registers; first += quad) {
      Value four = converted(accumulator, first);
      if (fragments.swapped) {
        storeQuad(row, column, first, four);
      } else {
        storeElements(row, column, first, four);
      }
    }
  }

private:
  ResultPosition position(int reg, int lane) const {
    return resultPosition(fragments.size, fragments.swapped, reg, lane);
  }

  template <typename Function> Value laneMap(Function function) {
    std::vector<std::int64_t> table;
    for (int wave = 0; wave < item.waves; ++wave) {
      for (int lane = 0; lane < waveSize; ++lane) {
        table.push_back(function(wave, lane));
      }
    }
    const std::optional<IndexMap> map = fitIndexMap(table);
    assert(map && "result positions are sums of bits of the index");
    return tiles.map(item.index, *map);
  }

  /// Four neighbouring registers as the result's type.
  Value converted(Value accumulator, int first) {
    const std::int32_t mask[quad] = {first, first + 1, first + 2, first + 3};
    Value four =
        LLVM::ShuffleVectorOp::create(tiles.builder, tiles.loc, accumulator, accumulator, mask);
    if (target.type == ElementType::f32 || target.type == ElementType::i32) {
      return four;
    }
    Type type = tiles.vectorType(quad, tiles.elementType(target.type));
    return LLVM::FPTruncOp::create(tiles.builder, tiles.loc, type, four);
  }

  /// The lane's offset for a row that lies `rows` below its first one.
  Value rowOffset(int rows) {
    auto [entry, isNew] = rowOffsets.try_emplace(rows);
    if (isNew) {
      Value row = tiles.mul(tiles.add(laneRow, rows), target.pitchBytes);
      entry->second = tiles.add(row, laneColumnBytes);
    }
    return entry->second;
  }

  void storeAt(Value value, int rows, int columns) {
    const int immediate = columns * elementBytes;
    Value lane = rowOffset(rows);
    if (!target.columns) {
      tiles.store(value, {buffer, lane, noScalar, immediate});
      return;
    }
    Value inside = tiles.lessThan(tiles.add(laneColumn, columns), target.columns);
    Value offset = tiles.select(inside, tiles.add(lane, immediate), tiles.constant(outOfRange));
    tiles.store(value, {buffer, offset, noScalar, 0});
  }

  void storeQuad(int row, int column, int first, Value four) {
    Type type = tiles.bitsType(quad * elementBytes);
    Value bits = LLVM::BitcastOp::create(tiles.builder, tiles.loc, type, four);
    storeAt(bits, row * fragments.size + position(first, 0).m,
            column * fragments.size + position(first, 0).n);
  }

  void storeElements(int row, int column, int first, Value four) {
    Type bitsType = tiles.vectorType(quad, tiles.bitsType(elementBytes));
    Value bits = LLVM::BitcastOp::create(tiles.builder, tiles.loc, bitsType, four);
    for (int i = 0; i < quad; ++i) {
      Value one = LLVM::ExtractElementOp::create(tiles.builder, tiles.loc, bits, tiles.constant(i));
      storeAt(one, row * fragments.size + position(first + i, 0).m,
              column * fragments.size + position(first + i, 0).n);
    }
  }

  TileBuilder &tiles;
  const ResultTarget &target;
  const ResultFragments &fragments;
  const WorkItem &item;
  int elementBytes;
  Value buffer, noScalar, laneRow, laneColumn, laneColumnBytes;
  std::map<int, Value> rowOffsets;
};

} // namespace

void emitResult(KernelShell &shell, const ResultTarget &target, const ResultFragments &fragments,
                const WorkItem &item, llvm::function_ref<Value(int row, int column)> accumulator) {
  ResultWriter writer(shell, target, fragments, item);
  for (int row = 0; row < fragments.rows; ++row) {
    for (int column = 0; column < fragments.columns; ++column) {
      writer.store(row, column, accumulator(row, column));
    }
  }
}

} // namespace kw
