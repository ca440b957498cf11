// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The second launch of a decode attention with splits: a wave takes a row, its lanes share dv, and
// goes through the splits in order, so that the result doesn't depend on who came first.

#include "codegen/kernels/AttentionWork.h"
#include "codegen/kernels/FloatMath.h"
#include "codegen/kernels/KernelShell.h"
#include "codegen/kernels/Kernels.h"
#include "ir/plans/AttentionInterface.h"
#include "ir/plans/AttentionLoop.h"

#include <limits>
#include <numbers>

using namespace mlir;

namespace kw {
namespace {

constexpr int waveSize = 64;
constexpr int floatBytes = 4;
constexpr int statisticsBytes = 2 * floatBytes;

class CombineKernel {
public:
  CombineKernel(gpu::GPUModuleOp module, const KernelRequest &request, const LaunchPlan &launch,
                const LaunchInterface &interface)
      : op(request.problem.attention()), schedule(std::get<AttentionSchedule>(request.schedule)),
        launch(launch), shell(module, interface, {0, /*pinOrder=*/true, 0}), tiles(shell.tiles),
        math(shell.tiles), elements(static_cast<int>(op.dv) / waveSize) {}

  void emit() {
    findRow();
    const Total total = addSplits();
    storeResult(total);
    if (op.lse) {
      storeLse(total);
    }
    LLVM::ReturnOp::create(tiles.builder, tiles.loc, ValueRange{});
  }

private:
  struct Total {
    Value maximum, sum, values;
  };

  void findRow() {
    lane = tiles.rem(tiles.laneIndex(launch.waves * waveSize), waveSize);
    zero = tiles.constant(0);
    row = tiles.add(tiles.mul(tiles.workgroupIndex(), combineRows), tiles.waveIndex(launch.waves));
    Value packedRows = tiles.mul(shell.argument("sq"), op.group());
    Value heads = tiles.mul(shell.argument("b"), op.hkv);
    rows = tiles.mul(tiles.widen(heads), tiles.widen(packedRows));
    exists = LLVM::ICmpOp::create(tiles.builder, tiles.loc, LLVM::ICmpPredicate::ult,
                                  tiles.widen(row), rows);
    Value anyHead = LLVM::UDivOp::create(tiles.builder, tiles.loc, row, packedRows);
    Value packed = tiles.sub(row, tiles.mul(anyHead, packedRows));
    query = tiles.div(packed, op.group());
    Value inGroup = tiles.sub(packed, tiles.mul(query, op.group()));
    batch = tiles.div(anyHead, op.hkv);
    Value keyHead = tiles.sub(anyHead, tiles.mul(batch, op.hkv));
    head = tiles.add(tiles.mul(keyHead, op.group()), inGroup);
  }

  /// Of this row and a split (i32), `bytes` each.
  Value splitBuffer(std::string_view name, Value split, std::int64_t bytes) {
    Value index = tiles.add(tiles.mul(tiles.widen(split), rows), tiles.widen(row));
    Value base = tiles.advance(shell.argument(name), tiles.mul(index, bytes));
    return tiles.buffer(base, tiles.select(exists, tiles.constant(bytes), zero));
  }

  Value asFloats(Value bits, int count) {
    return LLVM::BitcastOp::create(tiles.builder, tiles.loc,
                                   tiles.vectorType(count, tiles.builder.getF32Type()), bits);
  }

  /// One trip: `chunk` splits, loaded together.
  Total addChunk(const Total &before, Value first, int chunk) {
    SmallVector<Value> statistics, values;
    for (int i = 0; i < chunk; ++i) {
      Value buffer = splitBuffer("statistics", tiles.add(first, i), statisticsBytes);
      statistics.push_back(tiles.load(tiles.bitsType(statisticsBytes), {buffer, zero, zero, 0}));
    }
    Value offset = tiles.mul(lane, elements * floatBytes);
    for (int i = 0; i < chunk; ++i) {
      Value buffer = splitBuffer("partial", tiles.add(first, i), op.dv * floatBytes);
      values.push_back(
          tiles.load(tiles.bitsType(elements * floatBytes), {buffer, offset, zero, 0}));
    }
    Total total = before;
    SmallVector<Value> maxima;
    for (Value both : statistics) {
      maxima.push_back(math.element(asFloats(both, 2), 0));
      total.maximum = math.maximum(total.maximum, maxima.back());
    }
    Value change = math.exp2(math.sub(before.maximum, total.maximum));
    total.sum = math.mul(before.sum, change);
    total.values = math.mul(before.values, math.splat(change, elements));
    for (int i = 0; i < chunk; ++i) {
      Value weight = math.exp2(math.sub(maxima[i], total.maximum));
      total.sum = math.fma(math.element(asFloats(statistics[i], 2), 1), weight, total.sum);
      total.values =
          math.fma(asFloats(values[i], elements), math.splat(weight, elements), total.values);
    }
    return total;
  }

  Total addSplits() {
    OpBuilder &builder = tiles.builder;
    const int splits = schedule.split.kv, chunk = combineChunk(splits);
    Total start{
        tiles.floatConstant(std::numeric_limits<float>::lowest()), tiles.floatConstant(0),
        LLVM::ZeroOp::create(builder, tiles.loc, tiles.vectorType(elements, builder.getF32Type()))};
    if (splits == chunk) {
      return addChunk(start, zero, chunk);
    }
    Block *loop = tiles.blockBehind(), *after = tiles.blockBehind();
    SmallVector<Value> carried{zero, start.maximum, start.sum, start.values};
    LLVM::BrOp::create(builder, tiles.loc, carried, loop);
    for (Value value : carried) {
      loop->addArgument(value.getType(), tiles.loc);
    }
    builder.setInsertionPointToEnd(loop);
    const Total now{loop->getArgument(1), loop->getArgument(2), loop->getArgument(3)};
    const Total next = addChunk(now, loop->getArgument(0), chunk);
    Value split = tiles.add(loop->getArgument(0), chunk);
    LLVM::CondBrOp::create(builder, tiles.loc, tiles.lessThan(split, tiles.constant(splits)), loop,
                           ValueRange{split, next.maximum, next.sum, next.values}, after,
                           ValueRange{});
    builder.setInsertionPointToEnd(after);
    return next;
  }

  void storeResult(const Total &total) {
    const int bytes = bitWidth(op.outType) / 8;
    Value at = tiles.mul(tiles.widen(batch), shell.argument("o_b"));
    at = tiles.add(at, tiles.mul(tiles.widen(head), shell.argument("o_h")));
    at = tiles.add(at, tiles.mul(tiles.widen(query), tiles.widen(shell.argument("o_s"))));
    Value base = tiles.advance(shell.argument("o"), tiles.mul(at, bytes));
    Value buffer = tiles.buffer(base, tiles.select(exists, tiles.constant(op.dv * bytes), zero));
    Value scaled = math.mul(total.values, math.splat(math.reciprocalOrZero(total.sum), elements));
    tiles.store(math.bits(math.round(scaled, op.outType), elements * bytes),
                {buffer, tiles.mul(lane, elements * bytes), zero, 0});
  }

  void storeLse(const Total &total) {
    Value firstRow = tiles.mul(tiles.widen(tiles.add(tiles.mul(batch, op.hq), head)),
                               tiles.widen(shell.argument("sq")));
    Value index = tiles.add(firstRow, tiles.widen(query));
    Value base = tiles.advance(shell.argument("lse"), tiles.mul(index, floatBytes));
    Value buffer = tiles.buffer(base, tiles.select(exists, tiles.constant(floatBytes), zero));
    Value lse = math.mul(math.add(total.maximum, math.log2(total.sum)),
                         tiles.floatConstant(std::numbers::ln2));
    Value owner = tiles.lessThan(lane, tiles.constant(1));
    tiles.store(LLVM::BitcastOp::create(tiles.builder, tiles.loc, tiles.builder.getI32Type(), lse),
                {buffer, tiles.select(owner, zero, tiles.constant(outOfRange)), zero, 0});
  }

  const Attention &op;
  const AttentionSchedule &schedule;
  const LaunchPlan &launch;
  KernelShell shell;
  TileBuilder &tiles;
  FloatMath math;
  int elements; ///< of dv a lane
  Value lane, zero, row, rows, exists, query, head, batch;
};

} // namespace

void emitAttentionCombine(gpu::GPUModuleOp module, const KernelRequest &request,
                          const LaunchPlan &launch, const LaunchInterface &interface) {
  CombineKernel(module, request, launch, interface).emit();
}

} // namespace kw
