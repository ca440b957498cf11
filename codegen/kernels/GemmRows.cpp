// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/kernels/GemmRows.h"

#include "codegen/kernels/GemmArithmetic.h"
#include "codegen/kernels/KnownMaps.h"

#include <cassert>
#include <map>

using namespace mlir;

namespace kw {
namespace {

constexpr int waveSize = 64;
constexpr int quad = 4; ///< registers that are written together
constexpr std::int64_t outOfRange = 0x80000000;

/// `function(wave, lane)` for all work-items that store; waves behind them are never asked.
template <typename Function>
std::vector<std::int64_t> tabulate(const WorkItem &item, int waves, Function function) {
  std::vector<std::int64_t> table;
  for (int wave = 0; wave < item.waves; ++wave) {
    for (int lane = 0; lane < waveSize; ++lane) {
      table.push_back(function(wave % waves, lane));
    }
  }
  return table;
}

/// Which rows and columns of the output tile a lane stores. The lane's first element, and what is
/// added to it for others, are known apart: one to the lane, one to the compiler.
class RowPositions {
public:
  RowPositions(TileBuilder &tiles, const ResultFragments &fragments, const ResultRows &rows,
               const WorkItem &item)
      : rows(rows) {
    row = map(tiles, item, [&](int wave, int lane) {
      return fragments.firstRow[wave] + storedPosition(rows, 0, lane).m;
    });
    column = map(tiles, item, [&](int wave, int lane) {
      return fragments.firstColumn[wave] + storedPosition(rows, 0, lane).n;
    });
  }

  ResultPosition offset(int pass, int store) const {
    const ResultPosition within = storedPosition(rows, store, 0);
    return {pass / rows.passesN * rows.rows() + within.m,
            pass % rows.passesN * rows.columns() + within.n};
  }

  Value row, column; ///< of the lane's first element

private:
  template <typename Function>
  Value map(TileBuilder &tiles, const WorkItem &item, Function function) const {
    const std::optional<IndexMap> map = fitIndexMap(tabulate(item, rows.waves, function));
    assert(map && "rows and columns of a pass are bits of the index");
    return tiles.map(item.index, *map);
  }

  const ResultRows &rows;
};

/// One matrix, by rows: a lane's neighbours along n together.
class RowAccess {
public:
  RowAccess(TileBuilder &tiles, const ResultMatrix &matrix, const RowPositions &lanes,
            Value columns, int elements)
      : tiles(tiles), matrix(matrix), lanes(lanes), columns(columns), elements(elements),
        elementBytes(bitWidth(matrix.type) / 8) {
    buffer = tiles.buffer(matrix.base, matrix.bytes);
    noScalar = tiles.constant(0);
    lane = tiles.mul(lanes.column, elementBytes);
    if (matrix.pitchBytes) {
      lane = tiles.add(lane, tiles.mul(lanes.row, matrix.pitchBytes));
    }
  }

  /// A bias has one value for all rows.
  bool isSame(ResultPosition a, ResultPosition b) const {
    return a.n == b.n && (a.m == b.m || !matrix.pitchBytes);
  }
  Value load(ResultPosition offset) {
    return tiles.load(tiles.bitsType(elements * elementBytes), address(offset));
  }
  void store(Value bits, ResultPosition offset) { tiles.store(bits, address(offset)); }

  ElementType type() const { return matrix.type; }

private:
  GlobalAddress address(ResultPosition offset) {
    const int immediate = offset.n * elementBytes;
    Value row = lane;
    if (matrix.pitchBytes && offset.m > 0) {
      row = tiles.add(row, tiles.mul(matrix.pitchBytes, offset.m));
    }
    if (!columns) {
      return {buffer, row, noScalar, immediate};
    }
    Value inside = tiles.lessThan(tiles.add(lanes.column, offset.n), columns);
    return {buffer, tiles.select(inside, tiles.add(row, immediate), tiles.constant(outOfRange)),
            noScalar, 0};
  }

  TileBuilder &tiles;
  const ResultMatrix &matrix;
  const RowPositions &lanes;
  Value columns;
  int elements, elementBytes;
  Value buffer, noScalar, lane;
};

class RowWriter {
public:
  RowWriter(KernelShell &shell, const Gemm &gemm, const ResultTarget &target,
            const ResultFragments &fragments, const ResultRows &rows, Value lds,
            const WorkItem &item, llvm::function_ref<Value(int, int)> accumulator)
      : shell(shell), tiles(shell.tiles), gemm(gemm), rows(rows), lds(lds), item(item),
        accumulator(accumulator), lanes(tiles, fragments, rows, item),
        result(tiles, target.result, lanes, target.columns, rows.elements) {
    for (const ResultMatrix &input : target.inputs) {
      inputs.emplace_back(tiles, input, lanes, target.columns, rows.elements);
    }
  }

  void run() {
    Pass before = begin(0);
    for (int pass = 1; pass < rows.passes(); ++pass) {
      Pass next = begin(pass);
      finish(before);
      before = std::move(next);
    }
    finish(before);
  }

private:
  struct Pass {
    int number = 0;
    std::vector<std::vector<Value>> loaded; ///< per store and input
    std::vector<Value> read;                ///< per store
  };

  Pass begin(int number) {
    Pass pass{number, loadInputs(number), {}};
    write(number);
    for (int store = 0; store < rows.stores(); ++store) {
      pass.read.push_back(read(store));
    }
    return pass;
  }

  std::vector<std::vector<Value>> loadInputs(int pass) {
    std::vector<std::vector<Value>> loaded(static_cast<std::size_t>(rows.stores()));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      for (int store = 0; store < rows.stores(); ++store) {
        const ResultPosition offset = lanes.offset(pass, store);
        int same = 0;
        while (!inputs[i].isSame(lanes.offset(pass, same), offset)) {
          ++same;
        }
        loaded[store].push_back(same < store ? loaded[same][i] : inputs[i].load(offset));
      }
    }
    return loaded;
  }

  void write(int pass) {
    const int firstRow = pass / rows.passesN * rows.fragmentsM;
    const int firstColumn = pass % rows.passesN * rows.fragmentsN;
    for (int m = 0; m < rows.fragmentsM; ++m) {
      for (int n = 0; n < rows.fragmentsN; ++n) {
        Value sums = accumulator(firstRow + m, firstColumn + n);
        for (int first = 0; first < rows.size * rows.size / waveSize; first += quad) {
          writeQuad(quadOf(sums, first), m, n, first / quad);
        }
      }
    }
  }

  Value quadOf(Value sums, int first) {
    const std::int32_t mask[quad] = {first, first + 1, first + 2, first + 3};
    return LLVM::ShuffleVectorOp::create(tiles.builder, tiles.loc, sums, sums, mask);
  }

  void writeQuad(Value four, int m, int n, int index) {
    if (rows.rounded) {
      four = roundedTo(tiles, result.type(), finishedResult(shell, gemm, four, {}));
    }
    Value bits = LLVM::BitcastOp::create(tiles.builder, tiles.loc,
                                         tiles.bitsType(quad * rows.elementBytes), four);
    const MappedOffset to =
        place(writeMaps, [&](int lane) { return writtenAddress(rows, m, n, index, lane); });
    tiles.storeLds(bits, lds, to.base, to.immediate);
  }

  /// Sums, or the result's bits if they were rounded before.
  Value read(int store) {
    SmallVector<Value> bases;
    SmallVector<std::int32_t> immediates;
    for (int part = 0; part < rows.reads(); ++part) {
      const MappedOffset from =
          place(readMaps, [&](int lane) { return readAddress(rows, store, part, lane); });
      bases.push_back(from.base);
      immediates.push_back(from.immediate);
    }
    Type type = rows.rounded ? tiles.bitsType(rows.elements * rows.elementBytes)
                             : tiles.vectorType(rows.elements, tiles.elementType(gemm.accType));
    return tiles.readLds(type, lds, bases, immediates);
  }

  template <typename Function> MappedOffset place(KnownMaps &known, Function address) {
    const MappedOffset offset = known.findOrMap(
        tiles,
        tabulate(item, rows.waves,
                 [&](int wave, int lane) { return wave * rows.waveBytes + address(lane); }),
        item.index);
    assert(offset.base && "addresses in LDS are sums and differences of bits of the index");
    return offset;
  }

  void finish(const Pass &pass) {
    for (int store = 0; store < rows.stores(); ++store) {
      Value bits = pass.read[store];
      if (!rows.rounded) {
        SmallVector<Value> operands;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
          operands.push_back(
              asFloats(tiles, inputs[i].type(), rows.elements, pass.loaded[store][i]));
        }
        Value rounded =
            roundedTo(tiles, result.type(), finishedResult(shell, gemm, bits, operands));
        bits = LLVM::BitcastOp::create(tiles.builder, tiles.loc,
                                       tiles.bitsType(rows.elements * bitWidth(result.type()) / 8),
                                       rounded);
      }
      result.store(bits, lanes.offset(pass.number, store));
    }
  }

  KernelShell &shell;
  TileBuilder &tiles;
  const Gemm &gemm;
  const ResultRows &rows;
  Value lds;
  const WorkItem &item;
  llvm::function_ref<Value(int, int)> accumulator;
  RowPositions lanes;
  RowAccess result;
  std::vector<RowAccess> inputs;
  KnownMaps writeMaps, readMaps;
};

} // namespace

void emitRows(KernelShell &shell, const Gemm &gemm, const ResultTarget &target,
              const ResultFragments &fragments, const ResultRows &rows, Value lds,
              const WorkItem &item, llvm::function_ref<Value(int row, int column)> accumulator) {
  RowWriter(shell, gemm, target, fragments, rows, lds, item, accumulator).run();
}

} // namespace kw
