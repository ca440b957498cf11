// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/GemmLoop.h"

#include "ir/plans/GemmResult.h"
#include "ir/plans/GemmRowsLoop.h"
#include "ir/plans/GemmScale.h"
#include "ir/plans/GemmSplit.h"
#include "ir/plans/OperationCosts.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>
#include <vector>

namespace kw {
namespace {

/// Addresses, buffer resources, workgroup mapping before the first load. [A]
constexpr int setUpInstructions = 60;

/// What the two operands have in common while the body is listed.
struct Operand {
  OperandTile tile;
  OperandPath path = OperandPath::lds;
  int ahead = 0;      ///< of its global loads
  int writeAhead = 0; ///< of its LDS writes; path registers: of the wait before their use
  float readCycles = 0, writeCycles = 0, loadCycles = 0;
  std::vector<int> loads, writes; ///< vertices per piece
  std::vector<int> reads;         ///< vertices per slice * fragments + fragment
  int wait = -1;                  ///< before the LDS writes, or before loaded fragments are used

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

/// Scales of one operand that change along k.
struct ScaleOperand {
  ScaleTile tile;
  std::vector<int> loads;
  int wait = -1; ///< before the first use in a step
};

int waveGroups(const GemmSchedule &schedule) {
  return schedule.pipeline.order == LoopOrder::pingpong ? 2 : 1;
}

class GemmBody {
public:
  GemmBody(const Gemm &gemm, const GemmSchedule &schedule, const Target &target)
      : gemm(gemm), schedule(schedule), target(target),
        sharing{schedule.waves(), 1, target.simdsPerCu, waveGroups(schedule)},
        builder(target, sharing), stages(schedule.pipeline.stages),
        slicesAhead(schedule.pipeline.fragmentsAhead), a(operand(TileOperand::a)),
        b(operand(TileOperand::b)), scaling(blockScaling(gemm, schedule)) {
    for (const ScaleTile &tile : scaleTiles(gemm, schedule)) {
      scales.push_back({tile, {}, -1});
    }
    const auto &tiling = schedule.tiling;
    const MatrixInstruction *instruction = findMatrixInstruction(
        target, tiling.mfmaM, tiling.mfmaN, tiling.mfmaK, gemm.aType, gemm.bType);
    assert(instruction && "no such matrix instruction: illegal schedule");
    matrixCycles = instruction ? instruction->cycles : 0;
  }

  UnfinishedLoop mainLoop() {
    const bool quadrants = schedule.pipeline.quadrants;
    if (schedule.pipeline.order == LoopOrder::pingpong) {
      quadrants ? pingPongQuadrants() : pingPong();
    } else if (quadrants) {
      quadrantsAhead();
    } else if (slicesAhead > 0) {
      pipelinedAhead();
    } else if (stages > 1) {
      pipelined();
    } else {
      singleStage();
    }
    connectMatrix();
    connectScales();
    if (quadrants) {
      return {std::move(builder), schedule.pipeline.order}; // ordered as they were listed
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
  /// What puts one group of a ping-pong schedule behind the other: a barrier.
  UnfinishedLoop shift() {
    builder.add({TileOpKind::barrier}, issueOf(1));
    return {std::move(builder), LoopOrder::serial};
  }
  UnfinishedLoop epilogue();
  UnfinishedLoop reduction();

private:
  /// Slices [begin, end) of a step.
  struct Slices {
    int begin = 0, end = 0;
  };
  struct Product {
    int vertex, slice;
    FragmentPair pair;
  };
  struct Synchronised {
    int wait, barrier;
  };

  void reduceSlices(int quads);
  /// Vertices of the loads of one fragment's inputs.
  std::vector<int> epilogueLoads(int row, int column);
  Operand operand(TileOperand which);
  void pipelined();
  void pipelinedAhead();
  void pingPong();
  void pingPongQuadrants();
  void quadrantsAhead();
  void singleStage();
  void orderLoads(const Operand &operand);
  void orderWrites(const Operand &operand);
  void orderReads(const Operand &operand);

  void synchronise(bool lastOfStep);
  void load(Operand &operand, int ahead);
  void loadHalf(Operand &operand, int half, int group, int ahead);
  void readHalf(Operand &operand, int half);
  void multiplyQuadrant(int halfA, int halfB);
  Synchronised meet(int group, int ahead);
  void waitAndWrite(Operand &operand);
  void waitForFragments(Operand &operand);
  void loadFragments();
  void loadScales();
  void addPartialSum();
  void addPartialSums();
  void connectScales();
  int accumulatorOf(FragmentPair pair) const { return pair.row * b.tile.fragments + pair.column; }
  void readFragment(Operand &operand, int slice, int fragment);
  void readsOf(Slices slices);
  void matrixOf(Slices slices);
  void readsAndMatrix();
  void connectMatrix();
  void reuseRegisters();
  void prioritise(bool raised);
  int barrierLatency() const { return schedule.waves() > 1 ? barrierCycles : 0; }
  void matrix(int slice, FragmentPair pair);
  void waitForReads(bool publish);
  int addBarrier(int ahead);
  /// Whether a fragment is read a step before its use.
  bool isAhead(const Operand &operand, int slice, int fragment) const {
    const bool quadrants =
        schedule.pipeline.quadrants && schedule.pipeline.order != LoopOrder::pingpong;
    return quadrants ? fragment < operand.tile.fragments / 2 : slice < slicesAhead;
  }
  int overwritable() const { return stages > 1 ? barrier : firstBarrier; }

  template <typename Visit> void each(OperandPath path, Visit visit) {
    for (Operand *operand : {&a, &b}) {
      if (operand->path == path) {
        visit(*operand);
      }
    }
  }
  bool any(OperandPath path) const { return a.path == path || b.path == path; }

  const Gemm &gemm;
  const GemmSchedule &schedule;
  const Target &target;
  WaveSharing sharing;
  LoopBuilder builder;
  int stages, slicesAhead, matrixCycles = 0;
  Operand a, b;
  std::vector<Product> products;  ///< matrix instructions in the order in which they are listed
  int topWait = -1, barrier = -1; ///< the barrier that publishes step i + `published`
  int published = 0;
  std::array<std::vector<int>, 2> loadsOf; ///< quadrants: vertices by the group waited for together
  std::vector<int> openReads;              ///< quadrants: since the last barrier
  BlockScaling scaling;
  Inline<ScaleOperand, 2> scales;
  std::vector<Product> unscaled; ///< last products of partial sums that are to be scaled yet
  std::vector<Product> sums;     ///< vertices that scale and add a partial sum
  int firstBarrier = -1; ///< one stage: the barrier after which the stage may be overwritten
};

Operand GemmBody::operand(TileOperand which) {
  Operand result;
  result.tile = operandTile(gemm, schedule, which);
  const OperandTile &tile = result.tile;
  result.path = tile.layout.path;
  result.reads.assign(std::size_t(tile.slices) * tile.fragments, -1);
  result.loadCycles = float(target.waveSize * tile.vectorBytes) / float(target.l1BytesPerClock);
  result.ahead = schedule.pipeline.prefetch;
  if (result.path == OperandPath::registers) {
    return result;
  }
  const bool direct = result.path == OperandPath::direct;
  result.ahead = direct ? stages - 1 + (slicesAhead > 0 ? 1 : 0) : result.ahead;
  result.writeAhead = stages - 1;
  result.readCycles = static_cast<float>(readCycles(tile, target));
  const int bytes = target.waveSize * tile.vectorBytes;
  // A direct load's data enters LDS through the write port, in lane order.
  result.writeCycles = direct ? float(bytes) / float(target.ldsWriteBytesPerClock)
                              : static_cast<float>(writeCycles(tile, target));
  return result;
}

/// Waits for the direct loads of step i, and for this wave's LDS writes, then the barrier.
void GemmBody::synchronise(bool lastOfStep) {
  TileOp wait{TileOpKind::wait};
  wait.pendingVector = any(OperandPath::direct) && lastOfStep ? 0 : -1;
  wait.pendingLds = any(OperandPath::lds) && lastOfStep ? 0 : -1;
  if (wait.pendingVector >= 0 || wait.pendingLds >= 0) {
    topWait = builder.add(wait, issueOf(1));
  }
  const int vertex = addBarrier(0);
  if (topWait >= 0) {
    builder.depend(topWait, vertex, issueCycles);
  }
  (lastOfStep ? barrier : firstBarrier) = vertex;
}

/// A single wave waits for nobody: LLVM drops its barriers.
int GemmBody::addBarrier(int ahead) {
  TileOp op{TileOpKind::barrier};
  op.count = schedule.waves() > 1 ? 1 : 0;
  op.ahead = static_cast<std::int16_t>(ahead);
  return builder.add(op, issueOf(op.count));
}

/// All fragments that were asked for are in registers, and LDS writes are done; `publish`: direct
/// loads of the next step have landed too.
void GemmBody::waitForReads(bool publish) {
  TileOp wait{TileOpKind::wait};
  wait.pendingLds = 0;
  wait.pendingVector = publish && any(OperandPath::direct) ? 0 : -1;
  wait.ahead = publish ? 1 : 0;
  const int vertex = builder.add(wait, issueOf(1));
  if (publish) {
    topWait = vertex;
  }
  for (const Operand *operand : {&a, &b}) {
    for (const int read : operand->reads) {
      if (read >= 0) {
        builder.depend(read, vertex, target.ldsLatencyCycles);
      }
    }
  }
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

/// Waits for the fragments of this step: loaded to registers some steps ago.
void GemmBody::waitForFragments(Operand &operand) {
  TileOp wait{TileOpKind::wait, operand.tile.operand};
  wait.pendingVector = 0;
  operand.wait = builder.add(wait, issueOf(1));
}

void GemmBody::load(Operand &operand, int ahead) {
  const bool direct = operand.path == OperandPath::direct;
  TileOp op{direct ? TileOpKind::directLoad : TileOpKind::globalLoad, operand.tile.operand};
  op.ahead = static_cast<std::int16_t>(ahead);
  ResourceUse use = issueOf(direct ? directLoadInstructions : 1);
  use.vectorMemory = operand.loadCycles;
  use.lds = direct ? operand.writeCycles : 0;
  for (int piece = 0; piece < operand.tile.pieces; ++piece) {
    op.piece = static_cast<std::int16_t>(piece);
    if (operand.path == OperandPath::registers) {
      const int fragment = piece / operand.tile.packsPerFragment();
      op.row = static_cast<std::int16_t>(fragment % operand.tile.fragments);
      op.slice = static_cast<std::int16_t>(fragment / operand.tile.fragments);
    }
    operand.loads.push_back(builder.add(op, use));
  }
}

void GemmBody::readFragment(Operand &operand, int slice, int fragment) {
  int &vertex = operand.read(slice, fragment);
  if (vertex >= 0 || operand.path == OperandPath::registers) {
    return;
  }
  TileOp op{TileOpKind::ldsRead, operand.tile.operand};
  op.row = static_cast<std::int16_t>(fragment);
  op.slice = static_cast<std::int16_t>(slice);
  op.count = static_cast<std::int16_t>(operand.tile.reads);
  op.ahead = isAhead(operand, slice, fragment) ? 1 : 0;
  ResourceUse use = issueOf(operand.tile.reads);
  use.lds = operand.readCycles;
  vertex = builder.add(op, use);
}

void GemmBody::matrix(int slice, FragmentPair pair) {
  TileOp op{TileOpKind::matrix};
  op.row = static_cast<std::int16_t>(pair.row);
  op.column = static_cast<std::int16_t>(pair.column);
  op.slice = static_cast<std::int16_t>(slice);
  ResourceUse use = issueOf(1);
  use.matrix = static_cast<float>(matrixCycles);
  products.push_back({builder.add(op, use), slice, pair});
  if (scaling.slices > 0 && ((slice + 1) % scaling.slices == 0 || slice + 1 == a.tile.slices)) {
    unscaled.push_back(products.back());
    if (static_cast<int>(unscaled.size()) > scaling.lag) {
      addPartialSum();
    }
  }
}

/// Scales the oldest partial sum of a block of k and adds it to its accumulators.
void GemmBody::addPartialSum() {
  const Product last = unscaled.front();
  unscaled.erase(unscaled.begin());
  TileOp op{TileOpKind::vector, TileOperand::c};
  op.row = static_cast<std::int16_t>(last.pair.row);
  op.column = static_cast<std::int16_t>(last.pair.column);
  op.slice = static_cast<std::int16_t>(last.slice);
  op.count = static_cast<std::int16_t>(scaling.instructions);
  const int vertex = builder.add(op, vectorUse(target, scaling.instructions));
  builder.depend(last.vertex, vertex, matrixCycles);
  sums.push_back({vertex, last.slice, last.pair});
}

void GemmBody::addPartialSums() {
  while (!unscaled.empty()) {
    addPartialSum();
  }
}

/// Loads for a later step, then the wait for those of this one.
void GemmBody::loadScales() {
  for (ScaleOperand &scale : scales) {
    TileOp op{TileOpKind::globalLoad, scale.tile.operand};
    op.ahead = static_cast<std::int16_t>(scalesAhead(schedule));
    ResourceUse use = issueOf(1);
    use.vectorMemory = float(target.waveSize * scale.tile.bytes) / float(target.l1BytesPerClock);
    for (int load = 0; load < scale.tile.loads; ++load) {
      op.piece = static_cast<std::int16_t>(load);
      scale.loads.push_back(builder.add(op, use));
    }
  }
  for (ScaleOperand &scale : scales) {
    TileOp op{TileOpKind::wait, scale.tile.operand};
    op.pendingVector = 0;
    scale.wait = builder.add(op, issueOf(1));
    for (const int load : scale.loads) {
      builder.depend(load, scale.wait, target.l2LatencyCycles, scalesAhead(schedule));
    }
  }
}

/// Scales of mx are operands of the products, those of blocks of the sums. The registers of a
/// partial sum are free again when it was added, and sums of a fragment follow one another.
void GemmBody::connectScales() {
  if (scaling.slices == 0) {
    for (const ScaleOperand &scale : scales) {
      for (const Product &product : products) {
        builder.depend(scale.wait, product.vertex, issueCycles);
      }
    }
    return;
  }
  const int latency = scaling.instructions * target.valuCycles;
  std::vector<int> firstOf(std::size_t(a.tile.fragments) * b.tile.fragments, -1), lastOf = firstOf;
  auto product = products.begin();
  // Products of the next block take the registers that a sum has left.
  const auto follow = [&](int before) {
    for (; product != products.end() && product->vertex < before; ++product) {
      if (const int sum = lastOf[accumulatorOf(product->pair)]; sum >= 0) {
        builder.depend(sum, product->vertex, issueCycles);
      }
    }
  };
  for (const Product &sum : sums) {
    follow(sum.vertex);
    for (const ScaleOperand &scale : scales) {
      builder.depend(scale.wait, sum.vertex, issueCycles);
    }
    int &last = lastOf[accumulatorOf(sum.pair)];
    int &first = firstOf[accumulatorOf(sum.pair)];
    first = first < 0 ? sum.vertex : first;
    if (last >= 0) {
      builder.depend(last, sum.vertex, latency);
    }
    last = sum.vertex;
  }
  for (std::size_t accumulator = 0; accumulator < firstOf.size(); ++accumulator) {
    builder.depend(lastOf[accumulator], firstOf[accumulator], latency, 1);
  }
}

/// By first use.
void GemmBody::readsOf(Slices slices) {
  for (int slice = slices.begin; slice < slices.end; ++slice) {
    for (int index = 0; index < a.tile.fragments * b.tile.fragments; ++index) {
      const FragmentPair pair = serpentine(a.tile.fragments, b.tile.fragments, index);
      readFragment(a, slice, pair.row);
      readFragment(b, slice, pair.column);
    }
  }
}

void GemmBody::matrixOf(Slices slices) {
  if (slices.begin == slices.end) {
    return;
  }
  prioritise(true);
  for (int slice = slices.begin; slice < slices.end; ++slice) {
    for (int index = 0; index < a.tile.fragments * b.tile.fragments; ++index) {
      matrix(slice, serpentine(a.tile.fragments, b.tile.fragments, index));
    }
  }
  addPartialSums();
  prioritise(false);
}

/// Serial: all reads, then all matrix instructions. Interleaved: listed by first use, the schedule
/// weaves them.
void GemmBody::readsAndMatrix() {
  const int slices = a.tile.slices;
  if (schedule.pipeline.order == LoopOrder::serial) {
    readsOf({0, slices});
    matrixOf({0, slices});
    return;
  }
  for (int slice = 0; slice < slices; ++slice) {
    for (int index = 0; index < a.tile.fragments * b.tile.fragments; ++index) {
      const FragmentPair pair = serpentine(a.tile.fragments, b.tile.fragments, index);
      readFragment(a, slice, pair.row);
      readFragment(b, slice, pair.column);
      matrix(slice, pair);
    }
  }
  addPartialSums();
}

/// A matrix instruction follows its fragments, which may have been read a step before, and the one
/// that wrote its accumulator last.
void GemmBody::connectMatrix() {
  std::vector<int> firstOf(std::size_t(a.tile.fragments) * b.tile.fragments, -1), lastOf = firstOf;
  for (const Product &product : products) {
    const auto follow = [&](Operand &operand, int fragment) {
      if (operand.path == OperandPath::registers) {
        builder.depend(operand.wait, product.vertex, issueCycles);
        return;
      }
      builder.depend(operand.read(product.slice, fragment), product.vertex, target.ldsLatencyCycles,
                     isAhead(operand, product.slice, fragment) ? 1 : 0);
    };
    follow(a, product.pair.row);
    follow(b, product.pair.column);
    const auto accumulator = static_cast<std::size_t>(accumulatorOf(product.pair));
    if (firstOf[accumulator] < 0) {
      firstOf[accumulator] = product.vertex;
    } else {
      builder.depend(lastOf[accumulator], product.vertex, matrixCycles);
    }
    lastOf[accumulator] = product.vertex;
  }
  for (std::size_t accumulator = 0; accumulator < firstOf.size(); ++accumulator) {
    builder.depend(lastOf[accumulator], firstOf[accumulator], matrixCycles, 1);
  }
  reuseRegisters();
}

/// What is read for the next step takes the registers of the same fragment of this step, where all
/// its products are listed before.
void GemmBody::reuseRegisters() {
  const auto follow = [&](Operand &operand, const Product &product, int fragment) {
    const int read = operand.read(product.slice, fragment);
    if (isAhead(operand, product.slice, fragment) && product.vertex < read) {
      builder.depend(product.vertex, read, issueCycles);
    }
  };
  for (const Product &product : products) {
    follow(a, product, product.pair.row);
    follow(b, product, product.pair.column);
  }
}

/// Around a cluster of matrix instructions: the SIMD's other waves get what it leaves.
void GemmBody::prioritise(bool raised) {
  if (schedule.pipeline.priority) {
    TileOp op{TileOpKind::priority};
    op.row = raised ? 1 : 0;
    builder.add(op, issueOf(1));
  }
}

/// A stage is overwritten after the barrier behind its last reader; a wait follows the latency.
void GemmBody::orderLoads(const Operand &operand) {
  for (const int load : operand.loads) {
    if (operand.path == OperandPath::direct) {
      builder.depend(overwritable(), load, issueCycles);
      builder.depend(load, topWait, target.l2LatencyCycles, operand.ahead - published);
    } else {
      builder.depend(load, operand.wait, target.l2LatencyCycles,
                     operand.ahead - operand.writeAhead);
    }
  }
}

void GemmBody::orderWrites(const Operand &operand) {
  for (std::size_t piece = 0; piece < operand.writes.size(); ++piece) {
    const int write = operand.writes[piece], load = operand.loads[piece];
    builder.depend(overwritable(), write, issueCycles, write < overwritable() ? 1 : 0);
    builder.depend(write, topWait, target.ldsLatencyCycles, write < topWait ? 0 : 1);
    // The staging registers are free again.
    builder.depend(write, load, issueCycles, write < load ? 0 : 1);
  }
}

/// Data is read behind the barrier that publishes it; results of the previous iteration leave the
/// stage before it is overwritten.
void GemmBody::orderReads(const Operand &operand) {
  for (const int read : operand.reads) {
    if (read < 0) {
      continue; // packed weights
    }
    builder.depend(barrier, read, barrierLatency(), read < barrier ? 1 : 0);
    builder.depend(read, overwritable(), target.ldsLatencyCycles, read < overwritable() ? 0 : 1);
  }
}

/// Packed fragments: loads for a later step, then the wait for those of this one.
void GemmBody::loadFragments() {
  each(OperandPath::registers, [&](Operand &operand) { load(operand, operand.ahead); });
  each(OperandPath::registers, [&](Operand &operand) { waitForFragments(operand); });
  loadScales();
}

void GemmBody::pipelined() {
  synchronise(true);
  const bool writeFirst = schedule.pipeline.prefetch == stages;
  const bool serial = schedule.pipeline.order == LoopOrder::serial;
  const auto writeThenLoad = [&] {
    each(OperandPath::lds, [&](Operand &operand) { waitAndWrite(operand); });
    each(OperandPath::lds, [&](Operand &operand) { load(operand, operand.ahead); });
  };
  if (!writeFirst) {
    // Before the direct loads: the wait for these then leaves the direct ones in flight.
    each(OperandPath::lds, [&](Operand &operand) { load(operand, operand.ahead); });
  } else if (serial) {
    writeThenLoad();
  }
  each(OperandPath::direct, [&](Operand &operand) { load(operand, operand.ahead); });
  loadFragments();
  readsAndMatrix();
  if (!writeFirst) {
    each(OperandPath::lds, [&](Operand &operand) { waitAndWrite(operand); });
  } else if (!serial) {
    writeThenLoad(); // listed last: the first fragments go before the writes to LDS
  }
}

/// The barrier stands in the middle: behind it the first slices of the next step are read, while
/// the last ones of this step, all in registers by then, are multiplied.
void GemmBody::pipelinedAhead() {
  const bool writeFirst = schedule.pipeline.prefetch == stages;
  const int slices = a.tile.slices;
  // With whole steps ahead nothing is left to read in front of the barrier.
  const Slices early{0, slicesAhead < slices ? slicesAhead : 0};
  if (writeFirst) {
    each(OperandPath::lds, [&](Operand &operand) { waitAndWrite(operand); });
  }
  each(OperandPath::lds, [&](Operand &operand) { load(operand, operand.ahead); });
  loadFragments();
  readsOf({slicesAhead, slices});
  matrixOf(early);
  if (!writeFirst) {
    each(OperandPath::lds, [&](Operand &operand) { waitAndWrite(operand); });
  }
  published = 1;
  waitForReads(true);
  barrier = addBarrier(1);
  builder.depend(topWait, barrier, issueCycles);
  each(OperandPath::direct, [&](Operand &operand) { load(operand, operand.ahead); });
  readsOf({0, slicesAhead});
  matrixOf({early.end, slices});
}

/// Two clusters a step, each a phase that moves data and one that multiplies, barriers between: the
/// other group is a phase behind.
void GemmBody::pingPong() {
  const int half = a.tile.slices / 2;
  published = 1;
  for (const Slices cluster : {Slices{0, half}, Slices{half, a.tile.slices}}) {
    const bool isFirst = cluster.begin == 0;
    const int opening = addBarrier(0);
    readsOf(cluster);
    if (isFirst) {
      barrier = opening;
      each(OperandPath::direct, [&](Operand &operand) { load(operand, operand.ahead); });
      loadScales();
    }
    for (const Operand *operand : {&a, &b}) {
      for (const int read : operand->reads) {
        if (read > opening) {
          builder.depend(opening, read, barrierLatency());
        }
      }
    }
    waitForReads(!isFirst);
    const int middle = addBarrier(0);
    matrixOf(cluster);
    for (const Product &product : products) {
      if (product.slice >= cluster.begin) {
        builder.depend(middle, product.vertex, barrierLatency());
      }
    }
  }
}

void GemmBody::loadHalf(Operand &operand, int half, int group, int ahead) {
  TileOp op{TileOpKind::directLoad, operand.tile.operand};
  op.row = static_cast<std::int16_t>(group);
  op.ahead = static_cast<std::int16_t>(ahead);
  ResourceUse use = issueOf(directLoadInstructions);
  use.vectorMemory = operand.loadCycles;
  use.lds = operand.writeCycles;
  const int pieces = operand.tile.pieces / 2;
  for (int piece = half * pieces; piece < (half + 1) * pieces; ++piece) {
    op.piece = static_cast<std::int16_t>(piece);
    const int vertex = builder.add(op, use);
    builder.depend(barrier, vertex, issueCycles);
    operand.loads.push_back(vertex);
    loadsOf[group].push_back(vertex);
  }
}

void GemmBody::readHalf(Operand &operand, int half) {
  const int fragments = operand.tile.fragments / 2;
  for (int slice = 0; slice < operand.tile.slices; ++slice) {
    for (int fragment = half * fragments; fragment < (half + 1) * fragments; ++fragment) {
      readFragment(operand, slice, fragment);
      builder.depend(barrier, operand.read(slice, fragment), barrierLatency());
      openReads.push_back(operand.read(slice, fragment));
    }
  }
}

void GemmBody::multiplyQuadrant(int halfA, int halfB) {
  const int rows = a.tile.fragments / 2, columns = b.tile.fragments / 2;
  for (int slice = 0; slice < a.tile.slices; ++slice) {
    for (int index = 0; index < rows * columns; ++index) {
      const FragmentPair pair = serpentine(rows, columns, index);
      matrix(slice, {halfA * rows + pair.row, halfB * columns + pair.column});
    }
  }
  addPartialSums();
}

/// Until the loads of a group for step i + `ahead` have landed and this wave's reads are done; then
/// a barrier. What is listed from here on stands behind it.
GemmBody::Synchronised GemmBody::meet(int group, int ahead) {
  TileOp wait{TileOpKind::wait};
  wait.row = static_cast<std::int16_t>(group);
  wait.ahead = static_cast<std::int16_t>(ahead);
  wait.pendingVector = wait.pendingLds = 0;
  const int vertex = builder.add(wait, issueOf(1));
  barrier = addBarrier(ahead);
  builder.depend(vertex, barrier, issueCycles);
  return {vertex, barrier};
}

/// Four quadrants, each multiplied while the half that the next one needs is read: q00 (reads B1),
/// q01 (A1), q10 (A0 of the next step), q11 (B0 of the next step). Two barriers a step, each frees
/// two halves of the stage for the step after the last one that is loaded.
void GemmBody::quadrantsAhead() {
  const Synchronised second = meet(1, 0);
  loadHalf(a, 0, 0, stages);
  loadHalf(b, 0, 0, stages);
  loadScales();
  readHalf(b, 1);
  prioritise(true);
  multiplyQuadrant(0, 0);
  readHalf(a, 1);
  multiplyQuadrant(0, 1);
  const std::vector<int> readsBetween = std::exchange(openReads, {});
  const Synchronised first = meet(0, 1);
  loadHalf(a, 1, 1, stages);
  loadHalf(b, 1, 1, stages);
  readHalf(a, 0);
  multiplyQuadrant(1, 0);
  readHalf(b, 0);
  multiplyQuadrant(1, 1);
  prioritise(false);
  for (const int read : readsBetween) {
    builder.depend(read, first.wait, target.ldsLatencyCycles);
  }
  for (const int read : openReads) {
    builder.depend(read, second.wait, target.ldsLatencyCycles, 1);
  }
  for (const int load : loadsOf[0]) {
    builder.depend(load, first.wait, target.l2LatencyCycles, stages - 1);
  }
  for (const int load : loadsOf[1]) {
    builder.depend(load, second.wait, target.l2LatencyCycles, stages);
  }
}

/// Two clusters: the upper half of the wave's rows, then the lower one, each with all columns. What
/// a cluster has read is loaded again a phase later: B and the first half of A together.
void GemmBody::pingPongQuadrants() {
  for (const int cluster : {0, 1}) {
    barrier = addBarrier(0);
    readHalf(a, cluster);
    if (cluster == 0) {
      readHalf(b, 0);
      readHalf(b, 1);
      loadHalf(a, 1, 1, stages - 1);
      loadScales();
    } else {
      loadHalf(a, 0, 0, stages);
      loadHalf(b, 0, 0, stages);
      loadHalf(b, 1, 0, stages);
    }
    const std::vector<int> reads = std::exchange(openReads, {});
    const Synchronised middle = meet(1 - cluster, cluster);
    for (const int read : reads) {
      builder.depend(read, middle.wait, target.ldsLatencyCycles);
    }
    // The group that is waited for was issued a step before, in this phase.
    for (const int load : loadsOf[1 - cluster]) {
      builder.depend(load, middle.wait, target.l2LatencyCycles, stages - 1);
    }
    prioritise(true);
    const std::size_t listed = products.size();
    multiplyQuadrant(cluster, cluster == 0 ? 0 : 1);
    multiplyQuadrant(cluster, cluster == 0 ? 1 : 0);
    prioritise(false);
    for (std::size_t i = listed; i < products.size(); ++i) {
      builder.depend(middle.barrier, products[i].vertex, barrierLatency());
    }
  }
}

void GemmBody::singleStage() {
  synchronise(false);
  const bool loadFirst = schedule.pipeline.prefetch == 0;
  each(OperandPath::direct, [&](Operand &operand) { load(operand, 0); });
  if (loadFirst) {
    each(OperandPath::lds, [&](Operand &operand) { load(operand, 0); });
  }
  each(OperandPath::lds, [&](Operand &operand) { waitAndWrite(operand); });
  if (!loadFirst) {
    each(OperandPath::lds, [&](Operand &operand) { load(operand, operand.ahead); });
  }
  loadFragments();
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

/// Fragment by fragment: what the epilogue reads, one fragment ahead, arithmetic, stores.
UnfinishedLoop GemmBody::epilogue() {
  if (schedule.epilogue == EpiloguePath::lds) {
    listRowEpilogue(builder, gemm, schedule, target);
    return {std::move(builder), LoopOrder::serial};
  }
  const ResultStores stores = resultStores(gemm, schedule);
  const ResultArithmetic arithmetic = resultArithmetic(gemm);
  const int registers =
      stores.fragments * ceilDiv(schedule.tiling.mfmaM * schedule.tiling.mfmaN, target.waveSize);
  TileOp convert{TileOpKind::vector, TileOperand::c}, store{TileOpKind::store, TileOperand::c};
  convert.count =
      static_cast<std::int16_t>(stores.conversions + registers * arithmetic.instructions);
  convert.transcendentals = static_cast<std::int16_t>(registers * arithmetic.transcendentals);
  store.count = static_cast<std::int16_t>(stores.stores);
  ResourceUse storeUse = issueOf(stores.stores);
  storeUse.vectorMemory =
      float(stores.stores * target.waveSize * stores.bytes) / float(target.l1BytesPerClock);
  const int columns = b.tile.fragments, fragments = a.tile.fragments * columns;
  const auto load = [&](int first) {
    std::vector<int> loads;
    for (int fragment = first; fragment < std::min(fragments, first + stores.fragments);
         ++fragment) {
      const std::vector<int> own = epilogueLoads(fragment / columns, fragment % columns);
      loads.insert(loads.end(), own.begin(), own.end());
    }
    return loads;
  };
  std::vector<int> loaded = load(0);
  for (int fragment = 0; fragment < fragments; fragment += stores.fragments) {
    convert.row = store.row = static_cast<std::int16_t>(fragment / columns);
    convert.column = store.column = static_cast<std::int16_t>(fragment % columns);
    std::vector<int> ahead = load(fragment + stores.fragments);
    const int converted =
        builder.add(convert, vectorUse(target, convert.count, convert.transcendentals));
    for (const int vertex : loaded) {
      builder.depend(vertex, converted, target.l2LatencyCycles);
    }
    builder.depend(converted, builder.add(store, storeUse), target.valuCycles);
    loaded = std::move(ahead);
  }
  return {std::move(builder), LoopOrder::serial};
}

/// The last workgroup of a tile to arrive: its partial sums on their way, the arrival, then loads
/// of all partial sums in groups, two of them in flight. Each is a round trip beyond the L2.
UnfinishedLoop GemmBody::reduction() {
  constexpr int registersPerLoad = 4;
  const bool atomic = schedule.split.reduce == Reduction::atomic;
  const int quads = ceilDiv<int>(a.tile.fragments * b.tile.fragments * schedule.tiling.mfmaM *
                                     schedule.tiling.mfmaN,
                                 target.waveSize * registersPerLoad);
  const auto moves = [&](TileOpKind kind, int count, int bytes) {
    TileOp op{kind, TileOperand::partial};
    op.count = static_cast<std::int16_t>(count);
    ResourceUse use = issueOf(count);
    use.vectorMemory = float(count * target.waveSize * bytes) / float(target.l1BytesPerClock);
    return builder.add(op, use);
  };
  if (schedule.tiling.wavesK > 1) {
    reduceSlices(quads);
  }
  if (!sharesTiles(schedule)) {
    return {std::move(builder), LoopOrder::serial};
  }
  const int left = atomic ? moves(TileOpKind::store, registersPerLoad * quads, 4)
                          : moves(TileOpKind::store, quads, 16);
  const int arrival = builder.add({TileOpKind::reduce, TileOperand::partial}, issueOf(4));
  builder.depend(left, arrival, target.hbmLatencyCycles);
  const int loads = quads * (atomic ? 1 : schedule.split.k);
  const int group = atomic ? loads : partialLoads;
  std::vector<int> added;
  for (int first = 0; first < loads; first += group) {
    const int count = std::min(group, loads - first);
    const int load = moves(TileOpKind::globalLoad, count, 16);
    builder.depend(arrival, load, target.hbmLatencyCycles);
    if (added.size() > 1) {
      builder.depend(added[added.size() - 2], load, issueCycles);
    }
    TileOp sum{TileOpKind::vector, TileOperand::partial};
    sum.count = static_cast<std::int16_t>(count * registersPerLoad);
    added.push_back(builder.add(sum, vectorUse(target, sum.count)));
    builder.depend(load, added.back(), target.hbmLatencyCycles);
  }
  return {std::move(builder), LoopOrder::serial};
}

/// The waves behind the first part write their sums, the first ones read and add them.
void GemmBody::reduceSlices(int quads) {
  const int others = schedule.tiling.wavesK - 1;
  const float cycles = float(target.waveSize * 16) / float(target.ldsWriteBytesPerClock);
  const auto moves = [&](TileOpKind kind, int count) {
    TileOp op{kind, TileOperand::partial};
    op.count = static_cast<std::int16_t>(count);
    ResourceUse use = issueOf(count);
    use.lds = cycles * float(count);
    return builder.add(op, use);
  };
  const int written = moves(TileOpKind::ldsWrite, quads);
  const int met = builder.add({TileOpKind::barrier}, issueOf(1));
  builder.depend(written, met, target.ldsLatencyCycles);
  const int read = moves(TileOpKind::ldsRead, quads * others);
  builder.depend(met, read, barrierCycles);
  TileOp sum{TileOpKind::vector, TileOperand::partial};
  sum.count = static_cast<std::int16_t>(4 * quads * others);
  builder.depend(read, builder.add(sum, vectorUse(target, sum.count)), target.ldsLatencyCycles);
}

std::vector<int> GemmBody::epilogueLoads(int row, int column) {
  std::vector<int> vertices;
  for (const ResultInput &input : resultInputs(gemm)) {
    const ResultLoads loads = resultLoads(gemm, schedule, input);
    TileOp op{TileOpKind::globalLoad, input.operand};
    op.row = static_cast<std::int16_t>(row);
    op.column = static_cast<std::int16_t>(column);
    op.count = static_cast<std::int16_t>(loads.loads);
    ResourceUse use = issueOf(loads.loads);
    use.vectorMemory =
        float(loads.loads * target.waveSize * loads.bytes) / float(target.l1BytesPerClock);
    vertices.push_back(builder.add(op, use));
  }
  return vertices;
}

} // namespace

FragmentPair serpentine(int rows, int columns, int index) {
  const bool rowsOutside = rows >= columns;
  const int inside = rowsOutside ? columns : rows;
  const int outer = index / inside;
  const int inner = outer % 2 != 0 ? inside - 1 - index % inside : index % inside;
  return rowsOutside ? FragmentPair{outer, inner} : FragmentPair{inner, outer};
}

UnfinishedLoop gemmLoop(const Gemm &gemm, const GemmSchedule &schedule, const Target &target,
                        const Region &region) {
  GemmBody body(gemm, schedule, target);
  if (region.role != 0) {
    return body.shift();
  }
  switch (region.kind) {
  case RegionKind::prologue:
    return body.prologue();
  case RegionKind::epilogue:
    return body.epilogue();
  case RegionKind::reduction:
    return body.reduction();
  default:
    return body.mainLoop();
  }
}

} // namespace kw
