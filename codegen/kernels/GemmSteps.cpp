// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/GemmSteps.h"

#include <algorithm>
#include <cassert>

using namespace mlir;

namespace kw {
namespace {

constexpr int maxVmcnt = 63;
constexpr int maxLgkmcnt = 15;

int clampWait(int pending, int most) { return pending < 0 ? -1 : std::min(pending, most); }

} // namespace

GemmSteps::GemmSteps(KernelShell &shell, const GemmShape &shape, OperandAccess &a, OperandAccess &b)
    : tiles(shell.tiles), shape(shape), a(a), b(b) {
  Value nothing = tiles.constant(0);
  for (OperandAccess *operand : {&a, &b}) {
    const TileOperand name = operand->layout().operand;
    buffers[name] = tiles.buffer(operand->source().base, operand->source().bytes);
    emptyBuffers[name] = tiles.buffer(operand->source().base, nothing);
  }
}

/// k of a step's first element. The formula holds for step 0 too unless it is short.
std::int64_t GemmSteps::beginOf(std::int64_t step) const {
  return step == 0 ? 0 : shape.firstSize + (step - 1) * shape.tileK;
}

void GemmSteps::prologue(const LoopGraph &region) { emit(region, {0, 0, {}}); }

/// A short step 0 must not be in the loop: its masks are static.
std::int64_t GemmSteps::peeledSteps(const LoopGraph &body) const {
  std::int64_t peeled = shape.steps % shape.stages;
  if (peeled == 0 && loadsOwnStep(body) && hasShortFirst()) {
    peeled += shape.stages;
  }
  // A loop of one trip is straight code.
  return shape.steps - peeled == shape.stages ? shape.steps : peeled;
}

bool GemmSteps::loadsOwnStep(const LoopGraph &body) const {
  return std::any_of(
      body.order.begin(), body.order.end(), [&](LoopDependences::vertex_descriptor vertex) {
        const TileOp &op = body.graph[vertex].op;
        return op.ahead == 0 &&
               (op.kind == TileOpKind::directLoad || op.kind == TileOpKind::globalLoad);
      });
}

void GemmSteps::run(const LoopGraph &body) {
  if (shape.endsThere) {
    runPresent(body);
    return;
  }
  const std::int64_t peeled = peeledSteps(body);
  startAccumulators(/*constantZero=*/peeled > 0);
  for (std::int64_t step = 0; step < peeled; ++step) {
    emitStep(body, {step, step, {}});
  }
  if (peeled < shape.steps) {
    loop(body, peeled, (shape.steps - peeled) / shape.stages, tiles.blockBehind());
    return;
  }
  // Nobody uses what was loaded to registers for steps behind the last one; waits count it.
  for (const auto &[key, fragment] : fragments) {
    if (access(key.operand).layout().layout.path == OperandPath::registers) {
      tiles.keep(fragment);
    }
  }
}

/// As many steps as this workgroup has: after each it may be done.
void GemmSteps::runPresent(const LoopGraph &body) {
  startAccumulators(/*constantZero=*/false);
  Block *after = tiles.blockBehind();
  for (Value accumulator : accumulators) {
    after->addArgument(accumulator.getType(), tiles.loc);
  }
  const std::int64_t peeled = loadsOwnStep(body) && hasShortFirst() ? shape.stages : 0;
  for (std::int64_t step = 0; step < peeled; ++step) {
    emitStep(body, {step, step, {}});
    leaveUnless(tiles.constant(step + 1), after);
  }
  loop(body, peeled, (shape.steps + shape.stages - 1) / shape.stages, after);
}

void GemmSteps::leaveUnless(Value step, Block *after) {
  Block *next = tiles.blockBehind();
  LLVM::CondBrOp::create(tiles.builder, tiles.loc, tiles.lessThan(step, shape.presentSteps), next,
                         ValueRange{}, after, accumulators);
  tiles.builder.setInsertionPointToEnd(next);
}

/// Peeled steps take an inline zero for free. A loop must not see a constant: LLVM would split the
/// accumulators into scalars and copy them every trip.
void GemmSteps::startAccumulators(bool constantZero) {
  Type type = tiles.vectorType(shape.accumulatorElements, tiles.elementType(shape.accumulator));
  Value zero = LLVM::ZeroOp::create(tiles.builder, tiles.loc, type);
  for (int i = 0; i < shape.rows * shape.columns; ++i) {
    accumulators.push_back(constantZero ? zero : tiles.pinAccumulator(zero, shape.agpr));
  }
}

/// `after` has the accumulators as arguments if a step may be the last one.
void GemmSteps::loop(const LoopGraph &body, std::int64_t first, std::int64_t trips, Block *after) {
  OpBuilder &builder = tiles.builder;
  Block *loopBlock = tiles.blockBehind();

  // Carried: steps done, accumulators, and what earlier steps left for later ones.
  SmallVector<Value> initial{tiles.constant(0)};
  initial.append(accumulators.begin(), accumulators.end());
  for (auto &[key, value] : loaded) {
    initial.push_back(value);
  }
  for (auto &[key, value] : fragments) {
    initial.push_back(value);
  }
  LLVM::BrOp::create(builder, tiles.loc, initial, loopBlock);
  for (Value value : initial) {
    loopBlock->addArgument(value.getType(), tiles.loc);
  }
  auto argument = loopBlock->args_begin();
  Value done = *argument++;
  for (Value &accumulator : accumulators) {
    accumulator = *argument++;
  }
  for (auto &[key, value] : loaded) {
    value = *argument++;
  }
  for (auto &[key, value] : fragments) {
    value = *argument++;
  }
  std::map<LoadKey, Value> loadedBefore = loaded;
  std::map<FragmentKey, Value> fragmentsBefore = fragments;

  builder.setInsertionPointToEnd(loopBlock);
  sources.clear();
  for (int step = 0; step < shape.stages; ++step) {
    emitStep(body, {first + step, first + step + (trips - 1) * shape.stages, done});
    if (shape.endsThere && step + 1 < shape.stages) {
      leaveUnless(tiles.add(done, first + step + 1), after);
    }
  }
  SmallVector<Value> next{tiles.add(done, shape.stages)};
  next.append(accumulators.begin(), accumulators.end());
  for (auto &[key, value] : loadedBefore) {
    next.push_back(loaded.at({key.step + shape.stages, key.operand, key.piece}));
  }
  for (auto &[key, value] : fragmentsBefore) {
    next.push_back(fragments.at({key.step + shape.stages, key.operand, key.row, key.slice}));
  }
  assert(loaded.size() == loadedBefore.size() && fragments.size() == fragmentsBefore.size());
  Value more = shape.endsThere ? tiles.lessThan(tiles.add(next.front(), first), shape.presentSteps)
                               : tiles.lessThan(next.front(), tiles.constant(trips * shape.stages));
  LLVM::CondBrOp::create(builder, tiles.loc, more, loopBlock, next, after,
                         shape.endsThere ? ValueRange(accumulators) : ValueRange{});
  builder.setInsertionPointToEnd(after);
  sources.clear();
  for (BlockArgument argument : after->getArguments()) {
    accumulators[argument.getArgNumber()] = argument;
  }
  if (shape.agpr) {
    for (Value &accumulator : accumulators) {
      accumulator = tiles.pinAccumulator(accumulator, true);
    }
  }
}

void GemmSteps::emit(const LoopGraph &body, const Iteration &iteration) {
  for (std::size_t position = 0; position < body.order.size(); ++position) {
    emit(body.op(position), iteration);
  }
}

void GemmSteps::emitStep(const LoopGraph &body, const Iteration &iteration) {
  emit(body, iteration);
  // What was read for this step is not needed any more.
  std::erase_if(fragments, [&](const auto &entry) { return entry.first.step <= iteration.first; });
}

void GemmSteps::emit(const TileOp &op, const Iteration &iteration) {
  const std::int64_t step = iteration.first + op.ahead;
  switch (op.kind) {
  case TileOpKind::globalLoad:
    if (access(op.operand).layout().layout.path == OperandPath::registers) {
      fragments[{step, op.operand, op.row, op.slice}] =
          access(op.operand).loadFragment(tiles, op.piece, source(op.operand, step, iteration));
      return;
    }
    loaded[{step, op.operand, op.piece}] =
        access(op.operand).load(tiles, op.piece, source(op.operand, step, iteration));
    return;
  case TileOpKind::directLoad:
    access(op.operand)
        .loadDirect(tiles, op.piece, stageOf(step), source(op.operand, step, iteration));
    return;
  case TileOpKind::ldsWrite: {
    auto entry = loaded.find({step, op.operand, op.piece});
    assert(entry != loaded.end() && "the plan writes a piece that it hasn't loaded");
    access(op.operand).writeLds(tiles, op.piece, stageOf(step), entry->second);
    loaded.erase(entry);
    return;
  }
  case TileOpKind::ldsRead:
    fragments[{step, op.operand, op.row, op.slice}] =
        access(op.operand).readFragment(tiles, op.row, op.slice, stageOf(step));
    return;
  case TileOpKind::matrix:
    emitMatrix(op, step);
    return;
  case TileOpKind::wait:
    tiles.wait(clampWait(op.pendingVector, maxVmcnt), clampWait(op.pendingLds, maxLgkmcnt));
    return;
  case TileOpKind::barrier:
    tiles.barrier();
    return;
  case TileOpKind::priority:
    tiles.priority(op.row);
    return;
  case TileOpKind::vector:
    return; // address and loop arithmetic that the plan accounts for
  case TileOpKind::reduce:
  case TileOpKind::store:
    assert(false && "not an operation of a GEMM's steps");
  }
}

void GemmSteps::emitMatrix(const TileOp &op, std::int64_t step) {
  Value fromA = fragments.at({step, TileOperand::a, op.row, op.slice});
  Value fromB = fragments.at({step, TileOperand::b, op.column, op.slice});
  if (shape.swapped) {
    std::swap(fromA, fromB);
  }
  Value &accumulator = accumulators[static_cast<std::size_t>(op.row) * shape.columns + op.column];
  accumulator = tiles.mfma(shape.mfma, fromA, fromB, accumulator);
}

const StepSource &GemmSteps::source(TileOperand operand, std::int64_t step,
                                    const Iteration &iteration) {
  auto [entry, isNew] = sources.try_emplace({operand, step});
  if (isNew) {
    entry->second = iteration.done ? loopSource(access(operand), step, iteration)
                                   : fixedSource(access(operand), step);
  }
  return entry->second;
}

StepSource GemmSteps::fixedSource(OperandAccess &access, std::int64_t step) {
  const TileOperand operand = access.layout().operand;
  if (step >= shape.steps) {
    return {tiles.constant(0), emptyBuffers[operand], {}};
  }
  if (step == 0 && shape.beginOfFirst) {
    return {access.alongK(tiles, shape.beginOfFirst), buffers[operand], shape.sizeOfFirst};
  }
  const bool isShort = step == 0 && hasShortFirst();
  Value scalar = access.alongK(tiles, placed(tiles.constant(beginOf(step))));
  if (shape.presentSteps && step >= shape.leastSteps) {
    return whereExists(tiles.constant(step), access, scalar);
  }
  return {scalar, buffers[operand], isShort ? tiles.constant(shape.firstSize) : Value()};
}

/// Loads for steps behind the last one stay, so that every wait counts the same, but fetch nothing:
/// their buffer is empty and their offset 0.
StepSource GemmSteps::loopSource(OperandAccess &access, std::int64_t step,
                                 const Iteration &iteration) {
  const TileOperand operand = access.layout().operand;
  const std::int64_t begin = shape.firstSize + (step - 1) * shape.tileK;
  Value k = tiles.add(tiles.mul(iteration.done, shape.tileK), begin);
  Value scalar = access.alongK(tiles, placed(k));
  if (access.walksScalar()) {
    scalar = tiles.pinScalar(scalar);
  }
  const std::int64_t largestStep = step + iteration.last - iteration.first;
  if (largestStep < (shape.presentSteps ? shape.leastSteps : shape.steps)) {
    return {scalar, buffers[operand], {}};
  }
  return whereExists(tiles.add(iteration.done, step), access, scalar);
}

StepSource GemmSteps::whereExists(Value step, OperandAccess &access, Value scalar) {
  Value steps = shape.presentSteps ? shape.presentSteps : tiles.constant(shape.steps);
  Value exists = tiles.lessThan(step, steps);
  Value nothing = tiles.constant(0);
  Value bytes = tiles.select(exists, access.source().bytes, nothing);
  return {tiles.select(exists, scalar, nothing), tiles.buffer(access.source().base, bytes), {}};
}

} // namespace kw
