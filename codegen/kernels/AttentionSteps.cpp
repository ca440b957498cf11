// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/AttentionSteps.h"

#include "ir/plans/AttentionLoop.h"

#include <algorithm>
#include <cassert>
#include <limits>

using namespace mlir;

namespace kw {
namespace {

constexpr int maxVmcnt = 63;
constexpr int elementsOfOperand = 8; ///< that a lane holds of a matrix instruction's operand
/// Where maxima start: finite, so that a row without columns never subtracts infinities, and below
/// every score that is a number.
constexpr double lowest = std::numeric_limits<float>::lowest();

} // namespace

AttentionSteps::AttentionSteps(KernelShell &shell, const AttentionShape &shape, AttentionWork &work,
                               KvAccess &k, KvAccess &v, Value lane, Value wave)
    : tiles(shell.tiles), math(shell.tiles), shape(shape), work(work), k(k), v(v), lane(lane) {
  waveColumn = tiles.mul(wave, k.layout().rows);
}

void AttentionSteps::loadQueries(const std::vector<QueryRow> &rows, int slices) {
  const int bytes = bitWidth(shape.type) / 8;
  Value buffer = tiles.buffer(work.queryBase("q", bytes), tiles.constant(largestBuffer));
  Value zero = tiles.constant(0);
  const int size = shape.mfma[1];
  Value laneGroup = tiles.div(lane, size);
  Value within = tiles.mul(laneGroup, elementsOfOperand * bytes);
  Type type = tiles.vectorType(elementsOfOperand, tiles.elementType(shape.type));
  for (const QueryRow &row : rows) {
    // The bytes are below what a row that doesn't exist is out of range by.
    Value offset = tiles.add(work.queryOffset(row, "q", bytes), within);
    std::vector<Value> &fragment = queries.emplace_back();
    for (int slice = 0; slice < slices; ++slice) {
      Value bits = tiles.load(tiles.bitsType(elementsOfOperand * bytes),
                              {buffer, offset, zero, slice * shape.mfma[2] * bytes});
      fragment.push_back(LLVM::BitcastOp::create(tiles.builder, tiles.loc, type, bits));
    }
    // A lane's first column of a step lies 8 further for each lane group.
    Value first = tiles.add(tiles.mul(laneGroup, elementsOfOperand), waveColumn);
    limits.push_back(tiles.sub(work.limitOf(row), first));
  }
}

/// Columns of a step that exist for this split; a buffer without any for steps behind it.
Value AttentionSteps::stepBuffer(TileOperand operand, Value step, int ahead) {
  Value &buffer = buffers[{operand, ahead}];
  if (!buffer) {
    Value first = tiles.mul(tiles.add(step, ahead), shape.stepColumns);
    first = tiles.add(first, waveColumn);
    Value some = tiles.lessThan(first, work.endColumn);
    Value present =
        tiles.umin(tiles.sub(work.endColumn, first), tiles.constant(access(operand).layout().rows));
    present = tiles.select(some, present, tiles.constant(0));
    buffer = access(operand).stepBuffer(tiles, first, present);
  }
  return buffer;
}

void AttentionSteps::prologue(const LoopGraph &region) {
  buffers.clear();
  for (std::size_t position = 0; position < region.size(); ++position) {
    const TileOp &op = region.op(position);
    if (op.operand == TileOperand::k || op.operand == TileOperand::v) {
      emit(op, work.firstStep, 0);
    }
  }
  Type fragment = tiles.vectorType(shape.perFragment(), tiles.builder.getF32Type());
  Value zero = LLVM::ZeroOp::create(tiles.builder, tiles.loc, fragment);
  for (int i = 0; i < shape.queryFragments * shape.valueFragments; ++i) {
    // LLVM would split a constant that enters a loop into scalars and copy them every trip.
    state.results.push_back(tiles.pinAccumulator(zero, /*agpr=*/false));
  }
  state.maxima.assign(shape.queryFragments, tiles.floatConstant(lowest));
  state.sums.assign(shape.queryFragments, tiles.floatConstant(0));
}

SmallVector<Value> AttentionSteps::pack() const {
  SmallVector<Value> all;
  for (const auto *part : {&state.results, &state.maxima, &state.sums}) {
    all.append(part->begin(), part->end());
  }
  for (const auto &[key, value] : state.loaded) {
    all.push_back(value);
  }
  return all;
}

void AttentionSteps::unpack(ValueRange values) {
  auto next = values.begin();
  for (auto *part : {&state.results, &state.maxima, &state.sums}) {
    for (Value &value : *part) {
      value = *next++;
    }
  }
  for (auto &[key, value] : state.loaded) {
    value = *next++;
  }
}

void AttentionSteps::run(const LoopGraph &whole, const LoopGraph &masked) {
  const int unrolled = shape.unrolled;
  Value wholeTrips = tiles.div(work.wholeSteps, unrolled);
  Value rest = tiles.sub(work.steps, tiles.mul(wholeTrips, unrolled));
  Value maskedTrips = tiles.div(tiles.add(rest, unrolled - 1), unrolled);
  Value behind = loop(whole, work.firstStep, wholeTrips);
  loop(masked, behind, maskedTrips);
}

Value AttentionSteps::loop(const LoopGraph &body, Value firstStep, Value trips) {
  OpBuilder &builder = tiles.builder;
  Block *loopBlock = tiles.blockBehind(), *after = tiles.blockBehind();
  SmallVector<Value> initial{firstStep};
  initial.append(pack());
  Value end = tiles.add(firstStep, tiles.mul(trips, shape.unrolled));
  LLVM::CondBrOp::create(builder, tiles.loc, tiles.lessThan(tiles.constant(0), trips), loopBlock,
                         initial, after, initial);
  for (Block *block : {loopBlock, after}) {
    for (Value value : initial) {
      block->addArgument(value.getType(), tiles.loc);
    }
  }
  builder.setInsertionPointToEnd(loopBlock);
  Value step = loopBlock->getArgument(0);
  unpack(ValueRange(loopBlock->getArguments()).drop_front());
  buffers.clear();
  for (int inTrip = 0; inTrip < shape.unrolled; ++inTrip) {
    emitStep(body, step, inTrip);
  }
  std::map<LoadKey, Value> next; // from the next trip's first step on
  for (auto &[key, value] : state.loaded) {
    next[{key.ahead - shape.unrolled, key.operand, key.piece}] = value;
  }
  state.loaded = std::move(next);
  SmallVector<Value> carried{tiles.add(step, shape.unrolled)};
  carried.append(pack());
  Value more = tiles.lessThan(carried.front(), end);
  LLVM::CondBrOp::create(builder, tiles.loc, more, loopBlock, carried, after, carried);
  builder.setInsertionPointToEnd(after);
  unpack(ValueRange(after->getArguments()).drop_front());
  return after->getArgument(0);
}

void AttentionSteps::emitStep(const LoopGraph &body, Value step, int inTrip) {
  fragments.clear();
  scoreFragments.assign(shape.queryFragments, std::vector<Value>(shape.keyFragments));
  scores.assign(shape.queryFragments, {});
  operands.assign(shape.queryFragments, {});
  stepMaxima.assign(shape.queryFragments, {});
  changes.assign(shape.queryFragments, {});
  for (std::size_t position = 0; position < body.size(); ++position) {
    emit(body.op(position), step, inTrip);
  }
}

/// `step`: the trip's first; the operation belongs to `step + inTrip + ahead`.
void AttentionSteps::emit(const TileOp &op, Value step, int inTrip) {
  const int ahead = inTrip + op.ahead;
  const int stage = ahead % shape.unrolled;
  switch (op.kind) {
  case TileOpKind::globalLoad:
    state.loaded[{ahead, op.operand, op.piece}] =
        access(op.operand).load(tiles, op.piece, stepBuffer(op.operand, step, ahead));
    return;
  case TileOpKind::directLoad:
    access(op.operand).loadDirect(tiles, op.piece, stage, stepBuffer(op.operand, step, ahead));
    return;
  case TileOpKind::ldsWrite: {
    auto entry = state.loaded.find({ahead, op.operand, op.piece});
    assert(entry != state.loaded.end() && "the plan writes a piece that it hasn't loaded");
    access(op.operand).writeLds(tiles, op.piece, 0, entry->second);
    state.loaded.erase(entry);
    return;
  }
  case TileOpKind::ldsRead: {
    const bool direct = access(op.operand).layout().layout.path == OperandPath::direct;
    fragments[{static_cast<int>(op.operand), op.row, op.slice}] =
        access(op.operand).readFragment(tiles, op.row, op.slice, direct ? stage : 0);
    return;
  }
  case TileOpKind::matrix:
    if (op.operand == TileOperand::q && !k.layout().inLds()) {
      // Fragments arrive as they are; the last product that needs one frees it.
      const int piece = fragmentPiece(k.layout(), op.row, op.slice);
      auto entry = state.loaded.find({ahead, TileOperand::k, piece});
      if (entry != state.loaded.end()) {
        fragments[{static_cast<int>(TileOperand::k), op.row, op.slice}] =
            k.asFragment(tiles, entry->second);
        state.loaded.erase(entry);
      }
    }
    emitMatrix(op);
    return;
  case TileOpKind::vector:
    if (op.operand == TileOperand::p) {
      emitSoftmax(op, tiles.add(step, inTrip));
    }
    return; // others: bookkeeping that the plan accounts for
  case TileOpKind::reduce:
    stepMaxima[op.column] =
        math.acrossLanes(/*isMaximum=*/true, shape.mfma[1], stepMaxima[op.column]);
    return;
  case TileOpKind::wait:
    tiles.wait(std::min<int>(op.pendingVector, maxVmcnt), -1);
    return;
  case TileOpKind::barrier:
  case TileOpKind::priority:
  case TileOpKind::store:
    assert(false && "not an operation of a step");
  }
}

void AttentionSteps::emitMatrix(const TileOp &op) {
  if (op.operand == TileOperand::q) {
    Value &score = scoreFragments[op.column][op.row];
    if (!score) {
      score =
          LLVM::ZeroOp::create(tiles.builder, tiles.loc,
                               tiles.vectorType(shape.perFragment(), tiles.builder.getF32Type()));
    }
    score =
        tiles.mfma(shape.mfma, fragments.at({static_cast<int>(TileOperand::k), op.row, op.slice}),
                   queries[op.column][op.slice], score);
    return;
  }
  Value &result =
      state.results[static_cast<std::size_t>(op.column) * shape.valueFragments + op.row];
  result =
      tiles.mfma(shape.mfma, fragments.at({static_cast<int>(TileOperand::v), op.row, op.slice}),
                 operands[op.column][op.slice], result);
}

void AttentionSteps::emitSoftmax(const TileOp &op, Value step) {
  if (scores[op.column].empty()) {
    for (Value fragment : scoreFragments[op.column]) {
      for (int reg = 0; reg < shape.perFragment(); ++reg) {
        scores[op.column].push_back(math.element(fragment, reg));
      }
    }
  }
  switch (static_cast<SoftmaxPart>(op.piece)) {
  case SoftmaxPart::mask:
    return mask(op.column, step);
  case SoftmaxPart::maximum:
    return maximum(op.column);
  case SoftmaxPart::weights:
    return weights(op.column);
  case SoftmaxPart::score:
  case SoftmaxPart::convert:
  case SoftmaxPart::page:
    break; // refused before: ir/rules/AttentionLimits.cpp
  case SoftmaxPart::rescale:
    return rescale(op.column);
  }
}

/// A register's column is a constant from the lane's first one.
void AttentionSteps::mask(int query, Value step) {
  Value seen = tiles.sub(limits[query], tiles.mul(step, shape.stepColumns));
  Value never = tiles.floatConstant(-std::numeric_limits<double>::infinity());
  for (std::size_t reg = 0; reg < scores[query].size(); ++reg) {
    Value column = tiles.constant(scoreColumn(shape.mfma[0], static_cast<int>(reg), 0));
    Value visible =
        LLVM::ICmpOp::create(tiles.builder, tiles.loc, LLVM::ICmpPredicate::slt, column, seen);
    scores[query][reg] = tiles.select(visible, scores[query][reg], never);
  }
}

void AttentionSteps::maximum(int query) {
  Value largest = scores[query].front();
  for (std::size_t reg = 1; reg < scores[query].size(); ++reg) {
    largest = math.maximum(largest, scores[query][reg]);
  }
  stepMaxima[query] = largest;
}

/// Weights are 2^(score * scale - maximum), with log2(e) in the scale. Their sum is of one lane's
/// columns until the end.
void AttentionSteps::weights(int query) {
  Value scale = tiles.floatConstant(shape.scale);
  Value before = state.maxima[query];
  Value largest = math.maximum(before, math.mul(stepMaxima[query], scale));
  changes[query] = math.exp2(math.sub(before, largest));
  state.maxima[query] = largest;
  Value negative = math.negate(largest);
  Value sum;
  SmallVector<Value> weights;
  for (Value score : scores[query]) {
    weights.push_back(math.exp2(math.fma(score, scale, negative)));
    sum = sum ? math.add(sum, weights.back()) : weights.back();
    if (weights.size() == elementsOfOperand) {
      operands[query].push_back(math.round(math.vector(weights), shape.type));
      weights.clear();
    }
  }
  state.sums[query] = math.fma(state.sums[query], changes[query], sum);
}

void AttentionSteps::rescale(int query) {
  Value factor = math.splat(changes[query], shape.perFragment());
  for (int fragment = 0; fragment < shape.valueFragments; ++fragment) {
    Value &result =
        state.results[static_cast<std::size_t>(query) * shape.valueFragments + fragment];
    result = math.mul(result, factor);
  }
}

RowStatistics AttentionSteps::statistics(int query) {
  return {state.maxima[query],
          math.acrossLanes(/*isMaximum=*/false, shape.mfma[1], state.sums[query])};
}

} // namespace kw
