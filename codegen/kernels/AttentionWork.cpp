// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/AttentionWork.h"

#include <numbers>

using namespace mlir;

namespace kw {

AttentionWork::AttentionWork(KernelShell &shell, const KernelRequest &request,
                             const LaunchPlan &launch)
    : shell(shell), tiles(shell.tiles), math(shell.tiles), attention(request.problem.attention()),
      schedule(std::get<AttentionSchedule>(request.schedule)), launch(launch) {
  sq = shell.argument("sq");
  skv = shell.argument("skv");
  packedRows = tiles.mul(sq, attention.group());
  findTile();
  findSteps();
}

Value AttentionWork::signedLargest(Value a, Value b) {
  return LLVM::SMaxOp::create(tiles.builder, tiles.loc, a, b);
}
Value AttentionWork::signedSmallest(Value a, Value b) {
  return LLVM::SMinOp::create(tiles.builder, tiles.loc, a, b);
}

/// Row tiles come fastest, then splits, heads, batch entries (ir/plans/AttentionInterface.h).
void AttentionWork::findTile() {
  const int rows = schedule.tiling.rows;
  Value rowTiles = tiles.div(tiles.add(packedRows, rows - 1), rows);
  Value position = tiles.workgroupIndex();
  if (launch.mapping.xcds > 1) {
    Value total =
        tiles.mul(tiles.mul(shell.argument("b"), attention.hkv * schedule.split.kv), rowTiles);
    position = tiles.tileOf(position, total, 1, launch.mapping.xcds, 0).first;
  }
  Value item = LLVM::UDivOp::create(tiles.builder, tiles.loc, position, rowTiles);
  rowTile = tiles.sub(position, tiles.mul(item, rowTiles));
  Value anyHead = tiles.div(item, schedule.split.kv);
  split = tiles.sub(item, tiles.mul(anyHead, schedule.split.kv));
  batch = tiles.div(anyHead, attention.hkv);
  head = tiles.sub(anyHead, tiles.mul(batch, attention.hkv));
  firstRow = tiles.mul(rowTile, rows);
  firstQuery = tiles.div(firstRow, attention.group());
}

/// The plan's stepsOf, stepsOfSplit and tripsOf, for run-time sizes.
void AttentionWork::findSteps() {
  const int columns = schedule.stepColumns();
  Value seenByOne = skv, seenByAll = skv;
  if (attention.mask == MaskKind::causal) {
    Value zero = tiles.constant(0);
    Value lastRow = tiles.add(firstRow, schedule.tiling.rows - 1);
    Value lastQuery = tiles.umin(tiles.div(lastRow, attention.group()), tiles.add(sq, -1));
    Value before = tiles.add(tiles.sub(skv, sq), 1); // columns that query 0 sees, if positive
    seenByOne = signedLargest(tiles.add(before, lastQuery), zero);
    seenByAll = signedLargest(tiles.add(before, firstQuery), zero);
  }
  Value total = tiles.div(tiles.add(seenByOne, columns - 1), columns);
  Value each = tiles.div(total, schedule.split.kv);
  Value more = tiles.sub(total, tiles.mul(each, schedule.split.kv));
  firstStep = tiles.add(tiles.mul(each, split), tiles.umin(split, more));
  steps = tiles.select(tiles.lessThan(split, more), tiles.add(each, 1), each);
  Value allWhole = tiles.div(seenByAll, columns);
  Value from = tiles.select(tiles.lessThan(allWhole, firstStep), firstStep, allWhole);
  wholeSteps = tiles.umin(tiles.sub(from, firstStep), steps);
  endColumn = tiles.umin(tiles.mul(tiles.add(firstStep, steps), columns), skv);
}

QueryRow AttentionWork::row(Value within) {
  QueryRow result;
  result.within = within;
  Value packed = tiles.add(firstRow, within);
  result.query = tiles.div(packed, attention.group());
  result.head = tiles.sub(packed, tiles.mul(result.query, attention.group()));
  result.exists = tiles.lessThan(packed, packedRows);
  return result;
}

Value AttentionWork::limitOf(const QueryRow &row) {
  if (attention.mask != MaskKind::causal) {
    return endColumn;
  }
  Value seen = tiles.add(tiles.add(tiles.sub(skv, sq), row.query), 1);
  return signedSmallest(seen, endColumn);
}

static std::string strideName(std::string_view tensor, char axis) {
  return std::string(tensor) + "_" + axis;
}

Value AttentionWork::queryBase(std::string_view tensor, int elementBytes) {
  Value firstHead = tiles.mul(head, attention.group());
  Value elements = tiles.mul(tiles.widen(batch), shell.argument(strideName(tensor, 'b')));
  elements = tiles.add(elements,
                       tiles.mul(tiles.widen(firstHead), shell.argument(strideName(tensor, 'h'))));
  elements = tiles.add(elements, tiles.mul(tiles.widen(firstQuery),
                                           tiles.widen(shell.argument(strideName(tensor, 's')))));
  return tiles.advance(shell.argument(tensor), tiles.mul(elements, elementBytes));
}

Value AttentionWork::queryOffset(const QueryRow &row, std::string_view tensor, int elementBytes) {
  Value headStride = tiles.narrow(shell.argument(strideName(tensor, 'h')));
  Value elements = tiles.add(
      tiles.mul(tiles.sub(row.query, firstQuery), shell.argument(strideName(tensor, 's'))),
      tiles.mul(row.head, headStride));
  return tiles.select(row.exists, tiles.mul(elements, elementBytes), tiles.constant(outOfRange));
}

Value AttentionWork::keyBase(std::string_view tensor, int elementBytes) {
  Value elements = tiles.add(tiles.mul(tiles.widen(batch), shell.argument(strideName(tensor, 'b'))),
                             tiles.mul(tiles.widen(head), shell.argument(strideName(tensor, 'h'))));
  return tiles.advance(shell.argument(tensor), tiles.mul(elements, elementBytes));
}

/// Of this tile's first row and this split.
Value AttentionWork::partialBase(std::string_view buffer, std::int64_t rowBytes) {
  Value heads = tiles.widen(tiles.mul(shell.argument("b"), attention.hkv));
  Value anyHead = tiles.widen(tiles.add(tiles.mul(batch, attention.hkv), head));
  Value index = tiles.add(tiles.mul(tiles.widen(split), heads), anyHead);
  Value rows = tiles.add(tiles.mul(index, tiles.widen(packedRows)), tiles.widen(firstRow));
  return tiles.advance(shell.argument(buffer), tiles.mul(rows, rowBytes));
}

Value AttentionWork::resultBuffer() {
  if (!results) {
    constexpr int floatBytes = 4;
    Value base = schedule.split.kv > 1 ? partialBase("partial", attention.dv * floatBytes)
                                       : queryBase("o", bitWidth(attention.outType) / 8);
    results = tiles.buffer(base, tiles.constant(largestBuffer));
  }
  return results;
}

void AttentionWork::storeResult(const QueryRow &row, Value element, Value values,
                                const RowStatistics &statistics) {
  constexpr int neighbours = 4, floatBytes = 4;
  Value buffer = resultBuffer();
  Value zero = tiles.constant(0);
  if (schedule.split.kv > 1) {
    Value offset = tiles.mul(tiles.add(tiles.mul(row.within, attention.dv), element), floatBytes);
    offset = tiles.select(row.exists, offset, tiles.constant(outOfRange));
    tiles.store(math.bits(values, neighbours * floatBytes), {buffer, offset, zero, 0});
    return;
  }
  const int bytes = bitWidth(attention.outType) / 8;
  Value inverse = math.splat(math.reciprocalOrZero(statistics.sum), neighbours);
  Value rounded = math.round(math.mul(values, inverse), attention.outType);
  Value offset = tiles.add(queryOffset(row, "o", bytes), tiles.mul(element, bytes));
  tiles.store(math.bits(rounded, neighbours * bytes), {buffer, offset, zero, 0});
}

void AttentionWork::storeStatistics(const QueryRow &row, const RowStatistics &statistics,
                                    Value owner) {
  constexpr int floatBytes = 4;
  const bool partial = schedule.split.kv > 1;
  if (!partial && !attention.lse) {
    return;
  }
  Value stores = LLVM::AndOp::create(tiles.builder, tiles.loc, owner, row.exists);
  Value nowhere = tiles.constant(outOfRange);
  Value zero = tiles.constant(0);
  if (partial) {
    Value buffer =
        tiles.buffer(partialBase("statistics", 2 * floatBytes), tiles.constant(largestBuffer));
    Value offset = tiles.select(stores, tiles.mul(row.within, 2 * floatBytes), nowhere);
    Value both = math.vector({statistics.maximum, statistics.sum});
    tiles.store(math.bits(both, 2 * floatBytes), {buffer, offset, zero, 0});
    return;
  }
  // Contiguous [b, hq, sq]; natural logarithm. A row without columns has sum 0: -infinity.
  Value firstHead = tiles.add(tiles.mul(batch, attention.hq), tiles.mul(head, attention.group()));
  Value before = tiles.mul(tiles.mul(tiles.widen(firstHead), tiles.widen(sq)), floatBytes);
  Value buffer =
      tiles.buffer(tiles.advance(shell.argument("lse"), before), tiles.constant(largestBuffer));
  Value offset = tiles.mul(tiles.add(tiles.mul(row.head, sq), row.query), floatBytes);
  Value lse = math.mul(math.add(statistics.maximum, math.log2(statistics.sum)),
                       tiles.floatConstant(std::numbers::ln2));
  tiles.store(LLVM::BitcastOp::create(tiles.builder, tiles.loc, tiles.builder.getI32Type(), lse),
              {buffer, tiles.select(stores, offset, nowhere), zero, 0});
}

} // namespace kw
