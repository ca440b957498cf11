// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The RMSNorm kernel. A row belongs to `wavesPerRow` waves; a piece is one vector a lane. The row's
// buffer ends with the row, so that lanes behind it read zeros and store nothing, and it has no
// bytes at all where the workgroup reaches behind the last row.

#include "codegen/kernels/KernelShell.h"
#include "codegen/kernels/Kernels.h"
#include "codegen/passes/Constants.h"
#include "ir/dialect/KwDialect.h"
#include "ir/plans/RmsNormLoop.h"

#include <algorithm>
#include <bit>
#include <cassert>

using namespace mlir;

namespace kw {
namespace {

constexpr int waveSize = 64;
constexpr int largestStore = 16; ///< bytes a lane

class RmsNormKernel {
public:
  RmsNormKernel(gpu::GPUModuleOp module, const KernelRequest &request, const LaunchPlan &launch,
                const LaunchInterface &interface)
      : norm(request.problem.rmsnorm()), schedule(std::get<RmsNormSchedule>(request.schedule)),
        launch(launch), shell(module, interface, {0, /*pinOrder=*/true, schedule.wavesPerSimd}),
        tiles(shell.tiles), elementBytes(bitWidth(norm.type) / 8),
        elements(schedule.vectorBytes / elementBytes), pieces(rowPieces(norm, schedule)) {
    assert(!norm.quantised && "rules refuse quantised results");
  }

  void emit() {
    findRow();
    Value sum = schedule.passes == 1 ? squaresInRegisters() : squaresByLoop();
    Value scale = reciprocalRoot(acrossWaves(acrossLanes(sum)));
    if (schedule.passes == 1) {
      for (std::int64_t piece = 0; piece < pieces; ++piece) {
        storeScaled(rowValues[piece], weights.empty() ? Value() : weights[piece], scale,
                    offsets(piece));
      }
    } else {
      scaleByLoop(scale);
    }
    LLVM::ReturnOp::create(tiles.builder, tiles.loc, ValueRange{});
  }

private:
  /// Byte offsets of a lane's piece: in x, residual, sum and weight, and in y.
  struct Offsets {
    Value lane, result;
    std::int32_t immediate = 0, resultImmediate = 0;
  };
  struct Row {
    Value x, residual;
  };

  // ---- Where ------------------------------------------------------------------------------------

  void findRow() {
    Value wave = tiles.waveIndex(launch.waves);
    Value rowInGroup = tiles.div(wave, schedule.wavesPerRow);
    Value waveInRow = tiles.sub(wave, tiles.mul(rowInGroup, schedule.wavesPerRow));
    Value row = tiles.add(tiles.mul(tiles.workgroupIndex(), schedule.rowsPerWorkgroup), rowInGroup);
    Value lane = tiles.rem(tiles.laneIndex(launch.waves * waveSize), waveSize);
    Value vector = tiles.add(tiles.mul(waveInRow, waveSize), lane);
    laneBytes = tiles.mul(vector, schedule.vectorBytes);
    resultLaneBytes = tiles.mul(vector, elements * outBytes());
    slot = wave;
    firstSlot = tiles.mul(rowInGroup, schedule.wavesPerRow);
    zero = tiles.constant(0);

    Value exists = tiles.lessThan(row, shell.argument("rows"));
    x = rowBuffer("x", row, exists, elementBytes);
    y = rowBuffer("y", row, exists, outBytes());
    if (norm.residual) {
      residual = rowBuffer("residual", row, exists, elementBytes);
      stored = rowBuffer("sum", row, exists, elementBytes);
    }
    if (norm.weight) {
      weight = tiles.buffer(shell.argument("weight"), tiles.constant(norm.cols * elementBytes));
    }
  }

  Value rowBuffer(std::string_view name, Value row, Value exists, int bytesPerElement) {
    const std::int64_t rowBytes = norm.cols * bytesPerElement;
    Value base = tiles.advance(shell.argument(name), tiles.mul(tiles.widen(row), rowBytes));
    return tiles.buffer(base, tiles.select(exists, tiles.constant(rowBytes), zero));
  }

  int outBytes() const { return bitWidth(norm.outType) / 8; }
  std::int64_t vectorsPerPiece() const {
    return static_cast<std::int64_t>(schedule.wavesPerRow) * waveSize;
  }

  Offsets offsets(std::int64_t piece) const {
    const auto before = static_cast<std::int32_t>(piece * vectorsPerPiece());
    return {laneBytes, resultLaneBytes, before * schedule.vectorBytes,
            before * elements * outBytes()};
  }
  /// The same for a piece that a loop counts.
  Offsets loopOffsets(Value piece) {
    Value vectors = tiles.mul(piece, vectorsPerPiece());
    return {tiles.add(laneBytes, tiles.mul(vectors, schedule.vectorBytes)),
            tiles.add(resultLaneBytes, tiles.mul(vectors, elements * outBytes())), 0, 0};
  }

  // ---- Moving -----------------------------------------------------------------------------------

  Value load(Value buffer, const Offsets &at) {
    return tiles.load(tiles.bitsType(schedule.vectorBytes), {buffer, at.lane, zero, at.immediate});
  }

  Row loadRow(const Offsets &at) {
    return {load(x, at), norm.residual ? load(residual, at) : Value()};
  }

  /// Bits as they are loaded to a vector of f32.
  Value unpack(Value bits) {
    Value typed = LLVM::BitcastOp::create(
        tiles.builder, tiles.loc, tiles.vectorType(elements, tiles.elementType(norm.type)), bits);
    if (norm.type == ElementType::f32) {
      return typed;
    }
    return LLVM::FPExtOp::create(tiles.builder, tiles.loc,
                                 tiles.vectorType(elements, tiles.builder.getF32Type()), typed);
  }

  Value round(Value values, ElementType type) {
    if (type == ElementType::f32) {
      return values;
    }
    return LLVM::FPTruncOp::create(tiles.builder, tiles.loc,
                                   tiles.vectorType(elements, tiles.elementType(type)), values);
  }

  Value asBits(Value values, int bytes) {
    return LLVM::BitcastOp::create(tiles.builder, tiles.loc, tiles.bitsType(bytes), values);
  }

  /// x, or x + residual rounded to their type, as bits. The sum is a result too.
  Value summed(const Row &row, const Offsets &at, bool storeSum) {
    if (!norm.residual) {
      return row.x;
    }
    Value sum = LLVM::FAddOp::create(tiles.builder, tiles.loc, unpack(row.x), unpack(row.residual));
    Value bits = asBits(round(sum, norm.type), schedule.vectorBytes);
    if (storeSum) {
      tiles.store(bits, {stored, at.lane, zero, at.immediate});
    }
    return bits;
  }

  // ---- Computing --------------------------------------------------------------------------------

  /// Two partial sums, which the packed multiply-add takes at once.
  int partialSums() const { return std::min(elements, 2); }

  Value noSquares() {
    return LLVM::ZeroOp::create(tiles.builder, tiles.loc,
                                tiles.vectorType(partialSums(), tiles.builder.getF32Type()));
  }

  Value addSquares(Value partial, Value bits) {
    Value values = unpack(bits);
    for (int first = 0; first < elements; first += partialSums()) {
      SmallVector<std::int32_t> mask;
      for (int i = 0; i < partialSums(); ++i) {
        mask.push_back(first + i);
      }
      Value part = LLVM::ShuffleVectorOp::create(tiles.builder, tiles.loc, values, values, mask);
      partial = LLVM::FMAOp::create(tiles.builder, tiles.loc, part, part, partial);
    }
    return partial;
  }

  Value element(Value vector, int index) {
    return LLVM::ExtractElementOp::create(tiles.builder, tiles.loc, vector, tiles.constant(index));
  }

  Value sumOf(Value vector) {
    const auto count = cast<VectorType>(vector.getType()).getNumElements();
    Value sum = element(vector, 0);
    for (int i = 1; i < count; ++i) {
      sum = LLVM::FAddOp::create(tiles.builder, tiles.loc, sum, element(vector, i));
    }
    return sum;
  }

  Value acrossLanes(Value partial) {
    return dialect::RowReduceOp::create(tiles.builder, tiles.loc, tiles.builder.getF32Type(),
                                        dialect::Reduction::add, waveSize, sumOf(partial),
                                        /*stride=*/1);
  }

  /// Every wave leaves its sum in LDS and adds those of its row in the same order.
  Value acrossWaves(Value waveSum) {
    if (schedule.wavesPerRow == 1) {
      return waveSum;
    }
    constexpr int floatBytes = 4;
    constexpr int mostPerRead = 4;
    Value sums = shell.makeLds("sums", static_cast<std::int64_t>(launch.waves) * floatBytes);
    tiles.storeLds(waveSum, sums, tiles.mul(slot, floatBytes), 0);
    tiles.wait(-1, 0);
    tiles.barrier();
    const int perRead = std::min(schedule.wavesPerRow, mostPerRead);
    Type type = tiles.vectorType(perRead, tiles.builder.getF32Type());
    Value first = tiles.mul(firstSlot, floatBytes);
    Value total;
    for (int wave = 0; wave < schedule.wavesPerRow; wave += perRead) {
      Value part = sumOf(tiles.readLds(type, sums, first, {wave * floatBytes}));
      total =
          total ? LLVM::FAddOp::create(tiles.builder, tiles.loc, total, part).getResult() : part;
    }
    return total;
  }

  Value reciprocalRoot(Value sum) {
    Value inverse = tiles.floatConstant(1.0 / static_cast<double>(norm.cols));
    Value shifted =
        LLVM::FMAOp::create(tiles.builder, tiles.loc, sum, inverse, shell.argument("eps"));
    auto call = LLVM::CallIntrinsicOp::create(tiles.builder, tiles.loc, tiles.builder.getF32Type(),
                                              tiles.builder.getStringAttr("llvm.amdgcn.rsq.f32"),
                                              ValueRange{shifted});
    return call.getResult(0);
  }

  void storeScaled(Value bits, Value weightBits, Value scale, const Offsets &at) {
    OpBuilder &builder = tiles.builder;
    Type vector = tiles.vectorType(elements, builder.getF32Type());
    Value all = LLVM::UndefOp::create(builder, tiles.loc, vector);
    for (int i = 0; i < elements; ++i) {
      all = LLVM::InsertElementOp::create(builder, tiles.loc, all, scale, tiles.constant(i));
    }
    Value scaled = LLVM::FMulOp::create(builder, tiles.loc, unpack(bits), all);
    if (weightBits) {
      scaled = LLVM::FMulOp::create(builder, tiles.loc, scaled, unpack(weightBits));
    }
    storeResult(round(scaled, norm.outType), at);
  }

  /// The result may be wider than the input: stores reach 16 bytes a lane.
  void storeResult(Value values, const Offsets &at) {
    const int bytes = elements * outBytes();
    for (int first = 0; first < bytes; first += largestStore) {
      const int part = std::min(bytes, largestStore);
      SmallVector<std::int32_t> mask;
      for (int i = 0; i < part / outBytes(); ++i) {
        mask.push_back(first / outBytes() + i);
      }
      Value piece = LLVM::ShuffleVectorOp::create(tiles.builder, tiles.loc, values, values, mask);
      tiles.store(asBits(piece, part), {y, at.result, zero, at.resultImmediate + first});
    }
  }

  // ---- One pass ---------------------------------------------------------------------------------

  Value squaresInRegisters() {
    std::vector<Row> rows;
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      rows.push_back(loadRow(offsets(piece)));
    }
    for (std::int64_t piece = 0; norm.weight && piece < pieces; ++piece) {
      weights.push_back(load(weight, offsets(piece)));
    }
    Value partial = noSquares();
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      rowValues.push_back(summed(rows[piece], offsets(piece), /*storeSum=*/true));
      partial = addSquares(partial, rowValues.back());
    }
    return partial;
  }

  // ---- Two passes -------------------------------------------------------------------------------

  /// A loop over the pieces, bottom-tested. `body` gets the piece and the carried values and gives
  /// the next ones.
  template <typename Body> SmallVector<Value> overPieces(SmallVector<Value> carried, Body body) {
    OpBuilder &builder = tiles.builder;
    Block *loop = tiles.blockBehind(), *after = tiles.blockBehind();
    carried.insert(carried.begin(), tiles.constant(0));
    LLVM::BrOp::create(builder, tiles.loc, carried, loop);
    for (Value value : carried) {
      loop->addArgument(value.getType(), tiles.loc);
    }
    builder.setInsertionPointToEnd(loop);
    Value piece = loop->getArgument(0);
    SmallVector<Value> next = body(piece, ValueRange(loop->getArguments()).drop_front());
    SmallVector<Value> results = next;
    next.insert(next.begin(), tiles.add(piece, 1));
    Value more = tiles.lessThan(next.front(), tiles.constant(pieces));
    LLVM::CondBrOp::create(builder, tiles.loc, more, loop, next, after, ValueRange{});
    builder.setInsertionPointToEnd(after);
    return results;
  }

  SmallVector<Value> values(const Row &row) const {
    return norm.residual ? SmallVector<Value>{row.x, row.residual} : SmallVector<Value>{row.x};
  }
  Row asRow(ValueRange carried) const { return {carried[0], norm.residual ? carried[1] : Value()}; }

  /// Loads of the next piece are under way while this one is squared; behind the row they give
  /// zeros.
  Value squaresByLoop() {
    SmallVector<Value> carried = values(loadRow(offsets(0)));
    carried.push_back(noSquares());
    return overPieces(std::move(carried),
                      [&](Value piece, ValueRange now) {
                        const Offsets here = loopOffsets(piece);
                        SmallVector<Value> next = values(loadRow(loopOffsets(tiles.add(piece, 1))));
                        Value bits = summed(asRow(now), here, /*storeSum=*/true);
                        next.push_back(addSquares(now.back(), bits));
                        return next;
                      })
        .back();
  }

  void scaleByLoop(Value scale) {
    auto loadAll = [&](const Offsets &at) {
      SmallVector<Value> loaded = values(loadRow(at));
      if (norm.weight) {
        loaded.push_back(load(weight, at));
      }
      return loaded;
    };
    overPieces(loadAll(offsets(0)), [&](Value piece, ValueRange now) {
      const Offsets here = loopOffsets(piece);
      SmallVector<Value> next = loadAll(loopOffsets(tiles.add(piece, 1)));
      Value bits = summed(asRow(now), here, /*storeSum=*/false);
      storeScaled(bits, norm.weight ? now.back() : Value(), scale, here);
      return next;
    });
  }

  const RmsNorm &norm;
  const RmsNormSchedule &schedule;
  const LaunchPlan &launch;
  KernelShell shell;
  TileBuilder &tiles;
  int elementBytes, elements;
  std::int64_t pieces;
  Value laneBytes, resultLaneBytes, slot, firstSlot, zero;
  Value x, residual, stored, y, weight; ///< buffers
  std::vector<Value> rowValues, weights;
};

} // namespace

void emitRmsNorm(gpu::GPUModuleOp module, const KernelRequest &request) {
  const KernelPlan plan = makePlan(request.problem, request.schedule, request.target);
  const KernelInterface interface =
      kernelInterface(request.problem, request.schedule, request.target);
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    RmsNormKernel(module, request, plan.launches[i], interface.launches[i]).emit();
  }
}

} // namespace kw
