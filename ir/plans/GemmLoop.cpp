// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/GemmLoop.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>
#include <vector>

namespace kw {
namespace {

constexpr int issueCycles = 4;    ///< of one wave [T: gfx950.md 3.1]
constexpr int barrierCycles = 32; ///< s_barrier's cost is not published [A]
/// m0 and the load; a hazard nop between them is mostly filled. [mlir22.md 3]
constexpr int directLoadInstructions = 2;
/// Addresses, buffer resources, workgroup mapping before the first load. [A]
constexpr int setUpInstructions = 60;

ResourceUse issueOf(int instructions) {
  ResourceUse use;
  use.issue = static_cast<float>(issueCycles * instructions);
  return use;
}

/// What the two operands have in common while the body is listed.
struct Operand {
  OperandTile tile;
  bool direct = false;
  int ahead = 0;      ///< of its global loads
  int writeAhead = 0; ///< of its LDS writes
  float readCycles = 0, writeCycles = 0, loadCycles = 0;
  std::vector<int> loads, writes; ///< vertices per piece
  std::vector<int> reads;         ///< vertices per slice * fragments + fragment
  int wait = -1;                  ///< before the LDS writes

  int &read(int slice, int fragment) { return reads[slice * tile.fragments + fragment]; }
};

double readCycles(const OperandTile &tile, const Target &target) {
  std::array<std::int64_t, 64> address{};
  double total = 0;
  for (int read = 0; read < tile.reads; ++read) {
    for (int lane = 0; lane < 64; ++lane) {
      address[lane] = fragmentAddress(tile, 0, 0, 0, read, lane);
    }
    total += ldsCycles(target, tile.readBytes, false, address);
  }
  return total;
}

double writeCycles(const OperandTile &tile, const Target &target) {
  std::array<std::int64_t, 64> address{};
  for (int lane = 0; lane < 64; ++lane) {
    address[lane] = stagedAddress(tile, 0, 0, lane);
  }
  return ldsCycles(target, tile.vectorBytes, true, address);
}

/// What a vector instruction's issue costs is what it occupies: the pipe takes one at a time.
ResourceUse vectorUse(const Target &target, int instructions) {
  ResourceUse use;
  use.valu = use.issue = static_cast<float>(target.valuCycles * instructions);
  return use;
}

class GemmBody {
public:
  GemmBody(const Gemm &gemm, const GemmSchedule &schedule, const Target &target)
      : gemm(gemm), schedule(schedule), target(target),
        sharing{schedule.waves(), 1, target.simdsPerCu}, builder(target, sharing),
        stages(schedule.pipeline.stages), a(operand(TileOperand::a)), b(operand(TileOperand::b)) {
    const auto &tiling = schedule.tiling;
    const MatrixInstruction *instruction = findMatrixInstruction(
        target, tiling.mfmaM, tiling.mfmaN, tiling.mfmaK, gemm.aType, gemm.bType);
    assert(instruction && "no such matrix instruction: illegal schedule");
    matrixCycles = instruction ? instruction->cycles : 0;
  }

  UnfinishedLoop mainLoop() {
    if (stages > 1) {
      pipelined();
    } else {
      singleStage();
    }
    for (const Operand *operand : {&a, &b}) {
      orderLoads(*operand);
      orderWrites(*operand);
      orderReads(*operand);
    }
    return {std::move(builder), schedule.pipeline.order};
  }

  /// Iterations -ahead .. -1 of the body, `ahead` counting steps from 0.
  UnfinishedLoop prologue();
  UnfinishedLoop epilogue();

private:
  Operand operand(TileOperand which);
  void pipelined();
  void singleStage();
  void orderLoads(const Operand &operand);
  void orderWrites(const Operand &operand);
  void orderReads(const Operand &operand);

  void synchronise(bool lastOfStep);
  void load(Operand &operand, int ahead);
  void waitAndWrite(Operand &operand);
  void readFragment(Operand &operand, int slice, int fragment);
  void readsAndMatrix();
  int matrix(int slice, FragmentPair pair);

  template <typename Visit> void each(bool direct, Visit visit) {
    for (Operand *operand : {&a, &b}) {
      if (operand->direct == direct) {
        visit(*operand);
      }
    }
  }
  bool anyDirect() const { return a.direct || b.direct; }
  bool anyStaged() const { return !a.direct || !b.direct; }

  const Gemm &gemm;
  const GemmSchedule &schedule;
  const Target &target;
  WaveSharing sharing;
  LoopBuilder builder;
  int stages, matrixCycles = 0;
  Operand a, b;
  int topWait = -1, barrier = -1; ///< the barrier that publishes step i
  int firstBarrier = -1; ///< one stage: the barrier after which the stage may be overwritten
};

Operand GemmBody::operand(TileOperand which) {
  Operand result;
  result.tile = operandTile(gemm, schedule, which);
  const OperandTile &tile = result.tile;
  result.direct = tile.layout.path == OperandPath::direct;
  result.ahead = result.direct ? stages - 1 : schedule.pipeline.prefetch;
  result.writeAhead = stages - 1;
  result.readCycles = static_cast<float>(readCycles(tile, target));
  const int bytes = target.waveSize * tile.vectorBytes;
  // A direct load's data enters LDS through the write port, in lane order.
  result.writeCycles = result.direct ? float(bytes) / float(target.ldsWriteBytesPerClock)
                                     : static_cast<float>(writeCycles(tile, target));
  result.loadCycles = float(bytes) / float(target.l1BytesPerClock);
  result.reads.assign(std::size_t(tile.slices) * tile.fragments, -1);
  return result;
}

/// Waits for the direct loads of step i, and for this wave's LDS writes, then the barrier.
void GemmBody::synchronise(bool lastOfStep) {
  TileOp wait{TileOpKind::wait};
  wait.pendingVector = anyDirect() && lastOfStep ? 0 : -1;
  wait.pendingLds = anyStaged() && lastOfStep ? 0 : -1;
  if (wait.pendingVector >= 0 || wait.pendingLds >= 0) {
    topWait = builder.add(wait, issueOf(1));
  }
  const int vertex = builder.add({TileOpKind::barrier}, issueOf(1));
  if (topWait >= 0) {
    builder.depend(topWait, vertex, issueCycles);
  }
  (lastOfStep ? barrier : firstBarrier) = vertex;
}

/// Waits for the loads of the step that is written, and writes it.
void GemmBody::waitAndWrite(Operand &operand) {
  TileOp wait{TileOpKind::wait, operand.tile.operand};
  wait.pendingVector = 0;
  wait.ahead = static_cast<std::int16_t>(operand.writeAhead);
  operand.wait = builder.add(wait, issueOf(1));

  TileOp op{TileOpKind::ldsWrite, operand.tile.operand};
  op.ahead = wait.ahead;
  ResourceUse use = issueOf(1);
  use.lds = operand.writeCycles;
  for (int piece = 0; piece < operand.tile.pieces; ++piece) {
    op.piece = static_cast<std::int16_t>(piece);
    operand.writes.push_back(builder.add(op, use));
    builder.depend(operand.wait, operand.writes.back(), issueCycles);
  }
}

void GemmBody::load(Operand &operand, int ahead) {
  TileOp op{operand.direct ? TileOpKind::directLoad : TileOpKind::globalLoad, operand.tile.operand};
  op.ahead = static_cast<std::int16_t>(ahead);
  ResourceUse use = issueOf(operand.direct ? directLoadInstructions : 1);
  use.vectorMemory = operand.loadCycles;
  use.lds = operand.direct ? operand.writeCycles : 0;
  for (int piece = 0; piece < operand.tile.pieces; ++piece) {
    op.piece = static_cast<std::int16_t>(piece);
    operand.loads.push_back(builder.add(op, use));
  }
}

void GemmBody::readFragment(Operand &operand, int slice, int fragment) {
  int &vertex = operand.read(slice, fragment);
  if (vertex >= 0) {
    return;
  }
  TileOp op{TileOpKind::ldsRead, operand.tile.operand};
  op.row = static_cast<std::int16_t>(fragment);
  op.slice = static_cast<std::int16_t>(slice);
  op.count = static_cast<std::int16_t>(operand.tile.reads);
  ResourceUse use = issueOf(operand.tile.reads);
  use.lds = operand.readCycles;
  vertex = builder.add(op, use);
  builder.depend(barrier, vertex, barrierCycles);
}

int GemmBody::matrix(int slice, FragmentPair pair) {
  TileOp op{TileOpKind::matrix};
  op.row = static_cast<std::int16_t>(pair.row);
  op.column = static_cast<std::int16_t>(pair.column);
  op.slice = static_cast<std::int16_t>(slice);
  ResourceUse use = issueOf(1);
  use.matrix = static_cast<float>(matrixCycles);
  const int vertex = builder.add(op, use);
  for (const int read : {a.read(slice, pair.row), b.read(slice, pair.column)}) {
    builder.depend(read, vertex, target.ldsLatencyCycles);
  }
  return vertex;
}

/// Serial: all reads, then all matrix instructions. Interleaved: listed by first use, the schedule
/// weaves them.
void GemmBody::readsAndMatrix() {
  const int rows = a.tile.fragments, columns = b.tile.fragments, slices = a.tile.slices;
  std::vector<int> firstOf(std::size_t(rows) * columns, -1), lastOf = firstOf;
  const auto visit = [&](auto body) {
    for (int slice = 0; slice < slices; ++slice) {
      for (int index = 0; index < rows * columns; ++index) {
        body(slice, serpentine(rows, columns, index));
      }
    }
  };
  const auto read = [&](int slice, FragmentPair pair) {
    readFragment(a, slice, pair.row);
    readFragment(b, slice, pair.column);
  };
  if (schedule.pipeline.order == LoopOrder::serial) {
    visit(read);
  }
  visit([&](int slice, FragmentPair pair) {
    read(slice, pair);
    const int vertex = matrix(slice, pair);
    const std::size_t accumulator = std::size_t(pair.row) * columns + pair.column;
    if (firstOf[accumulator] < 0) {
      firstOf[accumulator] = vertex;
    } else {
      builder.depend(lastOf[accumulator], vertex, matrixCycles);
    }
    lastOf[accumulator] = vertex;
  });
  for (std::size_t accumulator = 0; accumulator < firstOf.size(); ++accumulator) {
    builder.depend(lastOf[accumulator], firstOf[accumulator], matrixCycles, 1);
  }
}

/// A stage is overwritten after the barrier behind its last reader; a wait follows the latency.
void GemmBody::orderLoads(const Operand &operand) {
  const int overwritable = stages > 1 ? barrier : firstBarrier;
  for (const int load : operand.loads) {
    if (operand.direct) {
      builder.depend(overwritable, load, issueCycles);
      builder.depend(load, topWait, target.l2LatencyCycles, operand.ahead);
    } else {
      builder.depend(load, operand.wait, target.l2LatencyCycles,
                     operand.ahead - operand.writeAhead);
    }
  }
}

void GemmBody::orderWrites(const Operand &operand) {
  const int overwritable = stages > 1 ? barrier : firstBarrier;
  for (std::size_t piece = 0; piece < operand.writes.size(); ++piece) {
    const int write = operand.writes[piece], load = operand.loads[piece];
    builder.depend(overwritable, write, issueCycles);
    builder.depend(write, topWait, target.ldsLatencyCycles, stages > 1 ? 1 : 0);
    // The staging registers are free again.
    builder.depend(write, load, issueCycles, write < load ? 0 : 1);
  }
}

/// Results of the previous iteration leave the stage before it is overwritten.
void GemmBody::orderReads(const Operand &operand) {
  const int overwritable = stages > 1 ? barrier : firstBarrier;
  for (const int read : operand.reads) {
    builder.depend(read, overwritable, target.ldsLatencyCycles, 1);
  }
}

void GemmBody::pipelined() {
  synchronise(true);
  const bool writeFirst = schedule.pipeline.prefetch == stages;
  const bool serial = schedule.pipeline.order == LoopOrder::serial;
  const auto writeThenLoad = [&] {
    each(false, [&](Operand &operand) { waitAndWrite(operand); });
    each(false, [&](Operand &operand) { load(operand, operand.ahead); });
  };
  if (!writeFirst) {
    // Before the direct loads: the wait for these then leaves the direct ones in flight.
    each(false, [&](Operand &operand) { load(operand, operand.ahead); });
  } else if (serial) {
    writeThenLoad();
  }
  each(true, [&](Operand &operand) { load(operand, operand.ahead); });
  readsAndMatrix();
  if (!writeFirst) {
    each(false, [&](Operand &operand) { waitAndWrite(operand); });
  } else if (!serial) {
    writeThenLoad(); // listed last: the first fragments go before the writes to LDS
  }
}

void GemmBody::singleStage() {
  synchronise(false);
  const bool loadFirst = schedule.pipeline.prefetch == 0;
  each(true, [&](Operand &operand) { load(operand, 0); });
  if (loadFirst) {
    each(false, [&](Operand &operand) { load(operand, 0); });
  }
  each(false, [&](Operand &operand) { waitAndWrite(operand); });
  if (!loadFirst) {
    each(false, [&](Operand &operand) { load(operand, operand.ahead); });
  }
  synchronise(true);
  readsAndMatrix();
}

/// Iterations -maxAhead .. -1 of the body one after the other, without what works for steps below
/// 0.
UnfinishedLoop GemmBody::prologue() {
  UnfinishedLoop unfinished = mainLoop();
  const LoopGraph body = unfinished.builder.finish(LoopOrder::serial);
  LoopBuilder list(target, sharing);
  TileOp setUp{TileOpKind::vector};
  setUp.count = setUpInstructions;
  list.add(setUp, vectorUse(target, setUpInstructions));
  std::vector<std::pair<int, TileOp>> loads;
  for (int iteration = -body.maxAhead; iteration < 0; ++iteration) {
    for (std::size_t position = 0; position < body.size(); ++position) {
      TileOp op = body.op(position);
      op.ahead = static_cast<std::int16_t>(op.ahead + iteration);
      if (op.ahead < 0) {
        continue;
      }
      const int vertex = list.add(op, body.graph[body.order[position]].use);
      if (op.kind == TileOpKind::globalLoad) {
        loads.emplace_back(vertex, op);
      }
      for (const auto &[load, loaded] : loads) {
        if (op.kind == TileOpKind::wait && loaded.operand == op.operand &&
            loaded.ahead == op.ahead) {
          list.depend(load, vertex, target.hbmLatencyCycles);
        }
      }
    }
  }
  return {std::move(list), LoopOrder::serial};
}

/// Fragment by fragment: conversion, stores.
UnfinishedLoop GemmBody::epilogue() {
  const ResultStores stores = resultStores(gemm, schedule);
  TileOp convert{TileOpKind::vector, TileOperand::c}, store{TileOpKind::store, TileOperand::c};
  convert.count = static_cast<std::int16_t>(stores.conversions);
  store.count = static_cast<std::int16_t>(stores.stores);
  ResourceUse storeUse = issueOf(stores.stores);
  storeUse.vectorMemory =
      float(stores.stores * target.waveSize * stores.bytes) / float(target.l1BytesPerClock);
  for (int row = 0; row < a.tile.fragments; ++row) {
    for (int column = 0; column < b.tile.fragments; ++column) {
      convert.row = store.row = static_cast<std::int16_t>(row);
      convert.column = store.column = static_cast<std::int16_t>(column);
      const int converted = builder.add(convert, vectorUse(target, stores.conversions));
      builder.depend(converted, builder.add(store, storeUse), target.valuCycles);
    }
  }
  return {std::move(builder), LoopOrder::serial};
}

} // namespace

FragmentPair serpentine(int rows, int columns, int index) {
  const bool rowsOutside = rows >= columns;
  const int inside = rowsOutside ? columns : rows;
  const int outer = index / inside;
  const int inner = outer % 2 != 0 ? inside - 1 - index % inside : index % inside;
  return rowsOutside ? FragmentPair{outer, inner} : FragmentPair{inner, outer};
}

UnfinishedLoop gemmLoop(const Problem &problem, const GemmSchedule &schedule, const Target &target,
                        RegionKind region) {
  GemmBody body(problem.gemm(), schedule, target);
  switch (region) {
  case RegionKind::prologue:
    return body.prologue();
  case RegionKind::epilogue:
    return body.epilogue();
  default:
    return body.mainLoop();
  }
}

} // namespace kw
