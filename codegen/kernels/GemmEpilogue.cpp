// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/GemmEpilogue.h"

#include "codegen/kernels/GemmArithmetic.h"

#include <cassert>
#include <map>

using namespace mlir;

namespace kw {
namespace {

constexpr int waveSize = 64;
constexpr int quad = 4; ///< registers that are neighbours in the result
constexpr std::int64_t outOfRange = 0x80000000;

/// Where a wave's lanes are within the output tile, as the matrix instruction leaves them or after
/// the exchange.
class LanePositions {
public:
  LanePositions(TileBuilder &tiles, const ResultFragments &fragments, const WorkItem &item,
                bool exchanged = false)
      : tiles(tiles), fragments(fragments), item(item), exchanged(exchanged) {
    row =
        laneMap([&](int wave, int lane) { return fragments.firstRow[wave] + position(0, lane).m; });
    column = laneMap(
        [&](int wave, int lane) { return fragments.firstColumn[wave] + position(0, lane).n; });
  }

  /// Rows and columns of register `reg` of a fragment beyond those of the lane's first one.
  ResultPosition offset(int fragmentRow, int fragmentColumn, int reg) const {
    const ResultPosition within = position(reg, 0);
    return {fragmentRow * fragments.size + within.m, fragmentColumn * fragments.size + within.n};
  }

  Value row, column; ///< of the lane's first register

private:
  ResultPosition position(int reg, int lane) const {
    return exchanged ? exchangedPosition(fragments.size, reg, lane)
                     : resultPosition(fragments.size, fragments.swapped, reg, lane);
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

  TileBuilder &tiles;
  const ResultFragments &fragments;
  const WorkItem &item;
  bool exchanged;
};

/// Loads and stores of one matrix by fragments: four registers together where they are neighbours,
/// else one by one.
class FragmentAccess {
public:
  FragmentAccess(TileBuilder &tiles, const ResultMatrix &matrix, const LanePositions &lanes,
                 Value columns, bool swapped)
      : tiles(tiles), matrix(matrix), lanes(lanes), columns(columns), swapped(swapped),
        elementBytes(bitWidth(matrix.type) / 8) {
    buffer = tiles.buffer(matrix.base, matrix.bytes);
    noScalar = tiles.constant(0);
    laneColumnBytes = tiles.mul(lanes.column, elementBytes);
  }

  /// Bits of registers [first, first + 4): one value of all, or one each.
  SmallVector<Value> load(int row, int column, int first) {
    if (swapped) {
      return {loadAt(tiles.bitsType(quad * elementBytes), lanes.offset(row, column, first))};
    }
    SmallVector<Value> bits;
    for (int i = 0; i < quad; ++i) {
      // A bias has one value for all rows.
      const bool again = i > 0 && !matrix.pitchBytes;
      bits.push_back(
          again ? bits.front()
                : loadAt(tiles.bitsType(elementBytes), lanes.offset(row, column, first + i)));
    }
    return bits;
  }

  /// The four as f32.
  Value unpacked(ArrayRef<Value> bits) {
    OpBuilder &builder = tiles.builder;
    if (bits.size() == 1) {
      return asFloats(tiles, matrix.type, quad, bits.front());
    }
    Type element = tiles.elementType(matrix.type);
    Value values = LLVM::UndefOp::create(builder, tiles.loc, tiles.vectorType(quad, element));
    for (int i = 0; i < quad; ++i) {
      Value one = LLVM::BitcastOp::create(builder, tiles.loc, element, bits[i]);
      values = LLVM::InsertElementOp::create(builder, tiles.loc, values, one, tiles.constant(i));
    }
    return asFloats(tiles, matrix.type, quad, values);
  }

  /// Four f32 in the matrix's type.
  Value rounded(Value four) { return roundedTo(tiles, matrix.type, four); }

  /// Four f32, rounded to the matrix's type.
  void store(Value four, int row, int column, int first) {
    OpBuilder &builder = tiles.builder;
    four = rounded(four);
    if (swapped) {
      Type type = tiles.bitsType(quad * elementBytes);
      Value bits = LLVM::BitcastOp::create(builder, tiles.loc, type, four);
      storeAt(bits, lanes.offset(row, column, first));
      return;
    }
    Type bitsType = tiles.vectorType(quad, tiles.bitsType(elementBytes));
    Value bits = LLVM::BitcastOp::create(builder, tiles.loc, bitsType, four);
    for (int i = 0; i < quad; ++i) {
      Value one = LLVM::ExtractElementOp::create(builder, tiles.loc, bits, tiles.constant(i));
      storeAt(one, lanes.offset(row, column, first + i));
    }
  }

  void storeBits(Value bits, int row, int column, int first) {
    storeAt(bits, lanes.offset(row, column, first));
  }

private:
  /// The lane's offset for a row that lies `rows` below its first one.
  Value rowOffset(int rows) {
    if (!matrix.pitchBytes) {
      return laneColumnBytes;
    }
    auto [entry, isNew] = rowOffsets.try_emplace(rows);
    if (isNew) {
      Value row = tiles.mul(tiles.add(lanes.row, rows), matrix.pitchBytes);
      entry->second = tiles.add(row, laneColumnBytes);
    }
    return entry->second;
  }

  GlobalAddress address(ResultPosition offset) {
    const int immediate = offset.n * elementBytes;
    Value lane = rowOffset(offset.m);
    if (!columns) {
      return {buffer, lane, noScalar, immediate};
    }
    Value inside = tiles.lessThan(tiles.add(lanes.column, offset.n), columns);
    return {buffer, tiles.select(inside, tiles.add(lane, immediate), tiles.constant(outOfRange)),
            noScalar, 0};
  }

  Value loadAt(Type type, ResultPosition offset) { return tiles.load(type, address(offset)); }
  void storeAt(Value value, ResultPosition offset) { tiles.store(value, address(offset)); }

  TileBuilder &tiles;
  const ResultMatrix &matrix;
  const LanePositions &lanes;
  Value columns;
  bool swapped;
  int elementBytes;
  Value buffer, noScalar, laneColumnBytes;
  std::map<int, Value> rowOffsets;
};

class ResultWriter {
public:
  ResultWriter(KernelShell &shell, const Gemm &gemm, const ResultTarget &target,
               const ResultFragments &fragments, const WorkItem &item)
      : shell(shell), tiles(shell.tiles), gemm(gemm), fragments(fragments),
        lanes(shell.tiles, fragments, item),
        storeLanes(shell.tiles, fragments, item, fragments.exchanged),
        result(tiles, target.result, storeLanes, target.columns, fragments.swapped) {
    for (const ResultMatrix &input : target.inputs) {
      inputs.emplace_back(tiles, input, lanes, target.columns, fragments.swapped);
    }
  }

  /// Inputs of one fragment: per four registers, per input.
  using Loaded = std::vector<std::vector<SmallVector<Value>>>;
  Loaded load(int row, int column) {
    Loaded loaded;
    for (int first = 0; first < registers(); first += quad) {
      loaded.emplace_back();
      for (FragmentAccess &input : inputs) {
        loaded.back().push_back(input.load(row, column, first));
      }
    }
    return loaded;
  }

  void store(int row, int column, Value accumulator, const Loaded &loaded) {
    for (int first = 0; first < registers(); first += quad) {
      SmallVector<Value> operands;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        operands.push_back(inputs[i].unpacked(loaded[first / quad][i]));
      }
      const std::int32_t mask[quad] = {first, first + 1, first + 2, first + 3};
      Value four =
          LLVM::ShuffleVectorOp::create(tiles.builder, tiles.loc, accumulator, accumulator, mask);
      Value finished = finishedResult(shell, gemm, four, operands);
      if (fragments.exchanged) {
        exchange(finished, row, column, first);
      } else {
        result.store(finished, row, column, first);
      }
    }
  }

private:
  /// Keeps every other four; stores them with the ones that follow: those of the next fragment
  /// along n (size 16) or the next of the same one.
  void exchange(Value four, int row, int column, int first) {
    OpBuilder &builder = tiles.builder;
    Type words = tiles.vectorType(2, builder.getI32Type());
    Value bits = LLVM::BitcastOp::create(builder, tiles.loc, words, result.rounded(four));
    const bool narrow = fragments.size == 16;
    if (narrow ? column % 2 == 0 : first % 8 == 0) {
      kept = bits;
      return;
    }
    Value all =
        LLVM::UndefOp::create(builder, tiles.loc, tiles.vectorType(quad, builder.getI32Type()));
    for (int word = 0; word < 2; ++word) {
      auto [low, high] =
          tiles.exchangeHalves(wordOf(kept, word), wordOf(bits, word), fragments.size);
      all = insertWord(insertWord(all, low, word), high, word + 2);
    }
    result.storeBits(all, row, narrow ? column - 1 : column, narrow ? 0 : first - quad);
  }

  Value wordOf(Value vector, int index) {
    return LLVM::ExtractElementOp::create(tiles.builder, tiles.loc, vector, tiles.constant(index));
  }
  Value insertWord(Value vector, Value word, int index) {
    return LLVM::InsertElementOp::create(tiles.builder, tiles.loc, vector, word,
                                         tiles.constant(index));
  }

  int registers() const { return fragments.size * fragments.size / waveSize; }

  KernelShell &shell;
  TileBuilder &tiles;
  const Gemm &gemm;
  const ResultFragments &fragments;
  LanePositions lanes, storeLanes; ///< of inputs and result
  Value kept;
  FragmentAccess result;
  std::vector<FragmentAccess> inputs;
};

} // namespace

void emitResult(KernelShell &shell, const Gemm &gemm, const ResultTarget &target,
                const ResultFragments &fragments, const WorkItem &item,
                llvm::function_ref<Value(int row, int column)> accumulator) {
  ResultWriter writer(shell, gemm, target, fragments, item);
  const int count = fragments.rows * fragments.columns;
  // Inputs are loaded a fragment ahead.
  ResultWriter::Loaded loaded = writer.load(0, 0);
  for (int fragment = 0; fragment < count; ++fragment) {
    const int row = fragment / fragments.columns, column = fragment % fragments.columns;
    const int next = fragment + 1;
    ResultWriter::Loaded ahead;
    if (next < count) {
      ahead = writer.load(next / fragments.columns, next % fragments.columns);
    }
    writer.store(row, column, accumulator(row, column), loaded);
    loaded = std::move(ahead);
  }
}

} // namespace kw
