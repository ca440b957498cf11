// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/AttentionLoop.h"

#include "ir/plans/OperationCosts.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>
#include <vector>

namespace kw {
namespace {

constexpr int setUpInstructions = 80; ///< addresses, split, buffers before the first load [A]
constexpr int stepInstructions = 24;  ///< scalar: position, buffers of a step, loop [A]

class AttentionBody {
public:
  AttentionBody(const Attention &attention, const AttentionSchedule &schedule, const Target &target)
      : attention(attention), schedule(schedule), target(target),
        sharing{schedule.waves, 1, target.simdsPerCu}, builder(target, sharing),
        k(operand(TileOperand::k)), v(operand(TileOperand::v)),
        queryFragments(std::max(1, schedule.waveRows() / schedule.tiling.mfmaN)),
        scoreRegisters(k.tile.fragments * schedule.tiling.mfmaM * schedule.tiling.mfmaN / 64),
        softmax(queryFragments) {
    const auto &tiling = schedule.tiling;
    const ProductTypes types = productTypes(attention);
    const MatrixInstruction *instruction = findMatrixInstruction(
        target, tiling.mfmaM, tiling.mfmaN, tiling.mfmaK, types.keys, types.queries);
    assert(instruction && "no such matrix instruction: illegal schedule");
    matrixCycles = instruction ? instruction->cycles : 0;
  }

  UnfinishedLoop step(bool masked) { return schedule.rowWaves > 1 ? shared(masked) : own(masked); }
  UnfinishedLoop prologue();
  UnfinishedLoop reduction();
  UnfinishedLoop epilogue();

private:
  struct Operand {
    KvTile tile;
    bool direct = false;
    int ahead = 0; ///< of its global loads
    float readCycles = 0, writeCycles = 0, loadCycles = 0;
    std::vector<int> loads, writes, reads; ///< vertices by piece, or fragment * slices + slice
    int wait = -1;
    std::vector<int> converts; ///< by slice, of 8-bit elements
  };
  /// Vertices of one fragment of query rows.
  struct Softmax {
    std::vector<int> products; ///< last of each score fragment
    int scored = -1, masked = -1, weights = -1, rescale = -1, rescaleFirst = -1;
    std::vector<int> firstOf, lastOf; ///< second product, by fragment of v
  };

  UnfinishedLoop own(bool masked);
  UnfinishedLoop shared(bool masked);
  void loadShared(Operand &operand, int wait, int barrier);
  void orderShared(Operand &operand, int wait, int barrier);
  void pageAddresses();
  int converted(Operand &operand, int slice);
  void scoreOf(Softmax &each, int column);
  Operand operand(TileOperand which) const;
  int vector(SoftmaxPart part, int column, int count, int transcendentals);
  int woven(SoftmaxPart part, int column, int count, int transcendentals, int after, int latency);
  void load(Operand &operand);
  void wait(Operand &operand);
  void write(Operand &operand);
  void read(Operand &operand, int slice);
  void firstProduct();
  void softmaxOf(int column, bool masked);
  void secondProduct();
  void drain();
  void orderLoads(Operand &operand);
  int matrix(TileOperand which, int row, int column, int slice);

  const Attention &attention;
  const AttentionSchedule &schedule;
  const Target &target;
  WaveSharing sharing;
  LoopBuilder builder;
  Operand k, v;
  int queryFragments, scoreRegisters, matrixCycles = 0;
  int firstWoven = -1;
  std::vector<Softmax> softmax;
};

AttentionBody::Operand AttentionBody::operand(TileOperand which) const {
  Operand result;
  result.tile = kvTile(attention, schedule, which);
  const KvTile &tile = result.tile;
  result.direct = tile.layout.path == OperandPath::direct;
  result.ahead = result.direct ? schedule.pipeline.stages - 1 : schedule.pipeline.prefetch;
  const int bytes = target.waveSize * tile.vectorBytes;
  result.loadCycles = float(bytes) / float(target.l1BytesPerClock);
  result.reads.assign(std::size_t(tile.fragments) * tile.slices, -1);
  if (!tile.inLds()) {
    return result;
  }
  std::array<std::int64_t, 64> address{};
  for (int read = 0; read < tile.reads; ++read) {
    for (int lane = 0; lane < 64; ++lane) {
      address[lane] = kvFragmentAddress(tile, 0, 0, read, lane);
    }
    result.readCycles += static_cast<float>(ldsCycles(target, tile.readBytes, false, address));
  }
  for (int lane = 0; lane < 64; ++lane) {
    address[lane] = kvStagedAddress(tile, 0, lane);
  }
  result.writeCycles = result.direct
                           ? float(bytes) / float(target.ldsWriteBytesPerClock)
                           : static_cast<float>(ldsCycles(target, tile.vectorBytes, true, address));
  return result;
}

int AttentionBody::vector(SoftmaxPart part, int column, int count, int transcendentals) {
  TileOp op{TileOpKind::vector, TileOperand::p};
  op.piece = static_cast<std::int16_t>(part);
  op.column = static_cast<std::int16_t>(column);
  op.count = static_cast<std::int16_t>(count);
  op.transcendentals = static_cast<std::int16_t>(transcendentals);
  return builder.add(op, vectorUse(target, count, transcendentals));
}

/// In prefill as operations small enough to stand between two matrix instructions, each of which
/// may begin `latency` after `after`; else as one. The last of them; `firstWoven` is the first.
int AttentionBody::woven(SoftmaxPart part, int column, int count, int transcendentals, int after,
                         int latency) {
  const int cycles = static_cast<int>(vectorUse(target, count, transcendentals).valu);
  const int parts = schedule.rowWaves > 1 ? std::max(1, cycles / std::max(1, matrixCycles)) : 1;
  int last = -1;
  for (int i = 0; i < parts; ++i) {
    const auto share = [&](int all) { return all * (i + 1) / parts - all * i / parts; };
    const int vertex = vector(part, column, share(count), share(transcendentals));
    builder.depend(after, vertex, latency);
    if (last >= 0) {
      builder.depend(last, vertex, issueCycles);
    }
    firstWoven = i == 0 ? vertex : firstWoven;
    last = vertex;
  }
  return last;
}

void AttentionBody::load(Operand &operand) {
  TileOp op{operand.direct ? TileOpKind::directLoad : TileOpKind::globalLoad, operand.tile.operand};
  op.ahead = static_cast<std::int16_t>(operand.ahead);
  ResourceUse use = issueOf(operand.direct ? directLoadInstructions : 1);
  use.vectorMemory = operand.loadCycles;
  use.lds = operand.direct ? operand.writeCycles : 0;
  for (int piece = 0; piece < operand.tile.pieces; ++piece) {
    op.piece = static_cast<std::int16_t>(piece);
    operand.loads.push_back(builder.add(op, use));
  }
}

/// For the direct loads of this step.
void AttentionBody::wait(Operand &operand) {
  TileOp op{TileOpKind::wait, operand.tile.operand};
  op.pendingVector = 0;
  operand.wait = builder.add(op, issueOf(1));
}

void AttentionBody::write(Operand &operand) {
  TileOp op{TileOpKind::ldsWrite, operand.tile.operand};
  ResourceUse use = issueOf(1);
  use.lds = operand.writeCycles;
  for (int piece = 0; piece < operand.tile.pieces; ++piece) {
    op.piece = static_cast<std::int16_t>(piece);
    operand.writes.push_back(builder.add(op, use));
  }
}

void AttentionBody::read(Operand &operand, int slice) {
  TileOp op{TileOpKind::ldsRead, operand.tile.operand};
  op.slice = static_cast<std::int16_t>(slice);
  op.count = static_cast<std::int16_t>(operand.tile.reads);
  ResourceUse use = issueOf(operand.tile.reads);
  use.lds = operand.readCycles;
  for (int fragment = 0; fragment < operand.tile.fragments; ++fragment) {
    op.row = static_cast<std::int16_t>(fragment);
    const int vertex = builder.add(op, use);
    operand.reads[std::size_t(fragment) * operand.tile.slices + slice] = vertex;
    if (operand.direct) {
      builder.depend(operand.wait, vertex, issueCycles);
    }
    for (const int written : operand.writes) {
      builder.depend(written, vertex, issueCycles); // LDS serves a wave in order
      builder.depend(vertex, written, issueCycles, 1);
    }
  }
}

int AttentionBody::matrix(TileOperand which, int row, int column, int slice) {
  TileOp op{TileOpKind::matrix, which};
  op.row = static_cast<std::int16_t>(row);
  op.column = static_cast<std::int16_t>(column);
  op.slice = static_cast<std::int16_t>(slice);
  ResourceUse use = issueOf(1);
  use.matrix = static_cast<float>(matrixCycles);
  return builder.add(op, use);
}

/// Of one slice, behind its reads: two elements an instruction. The vertex that products follow.
int AttentionBody::converted(Operand &operand, int slice) {
  if (bitWidth(attention.kvType) == bitWidth(productTypes(attention).keys)) {
    return -1;
  }
  const int pairs = operand.tile.fragments * operand.tile.laneElements / 2;
  const int vertex = vector(SoftmaxPart::convert, slice, pairs, 0);
  for (int fragment = 0; fragment < operand.tile.fragments; ++fragment) {
    const int read = operand.reads[std::size_t(fragment) * operand.tile.slices + slice];
    if (read >= 0) {
      builder.depend(read, vertex, target.ldsLatencyCycles);
    }
  }
  return vertex;
}

/// Rows of a tile lie in pages: an address and a limit a load.
void AttentionBody::pageAddresses() {
  if (attention.page > 0) {
    vector(SoftmaxPart::page, 0, 2 * (k.tile.pieces + v.tile.pieces), 0);
  }
}

/// alibi: the distance and a multiply-add; softcap: its hyperbolic tangent by an exponential and a
/// reciprocal.
void AttentionBody::scoreOf(Softmax &each, int column) {
  const int n = scoreRegisters;
  if (attention.score == ScoreKind::alibi) {
    each.scored = vector(SoftmaxPart::score, column, 2 * n, 0);
  } else if (attention.score == ScoreKind::softcap) {
    each.scored = vector(SoftmaxPart::score, column, 5 * n, 2 * n);
  }
  if (each.scored >= 0) {
    for (const int product : each.products) {
      builder.depend(product, each.scored, matrixCycles);
    }
  }
}

/// Slices outside, so that no product waits for the one before it.
void AttentionBody::firstProduct() {
  const KvTile &tile = k.tile;
  for (Softmax &each : softmax) {
    each.products.assign(tile.fragments, -1);
  }
  for (int slice = 0; slice < tile.slices; ++slice) {
    const int whole = converted(k, slice);
    for (int fragment = 0; fragment < tile.fragments; ++fragment) {
      const int read = whole >= 0 ? whole : k.reads[std::size_t(fragment) * tile.slices + slice];
      for (int column = 0; column < queryFragments; ++column) {
        const int vertex = matrix(TileOperand::q, fragment, column, slice);
        int &last = softmax[column].products[fragment];
        if (last >= 0) {
          builder.depend(last, vertex, matrixCycles);
        }
        last = vertex;
        if (read >= 0) {
          builder.depend(read, vertex, target.ldsLatencyCycles);
        }
      }
    }
  }
}

void AttentionBody::softmaxOf(int column, bool masked) {
  Softmax &each = softmax[column];
  const int n = scoreRegisters;
  const auto after = [&](int from, int to, int latency) { builder.depend(from, to, latency); };
  scoreOf(each, column);
  int maximum = -1;
  if (masked) {
    each.masked = vector(SoftmaxPart::mask, column, 2 * n + 2, 0);
    maximum = vector(SoftmaxPart::maximum, column, n, 0);
    after(each.masked, maximum, 2 * n * target.valuCycles);
  } else {
    maximum = vector(SoftmaxPart::maximum, column, ceilDiv(n, 2), 0); // three-operand maximum
  }
  for (const int product : each.products) {
    after(product, masked ? each.masked : maximum, matrixCycles);
  }
  if (each.scored >= 0) {
    after(each.scored, masked ? each.masked : maximum, 2 * n * target.valuCycles);
  }
  // Lanes of a row lie 16 or 32 apart: one swap and one maximum a step.
  const int swaps = schedule.tiling.mfmaN == 16 ? 2 : 1;
  TileOp op{TileOpKind::reduce, TileOperand::p};
  op.column = static_cast<std::int16_t>(column);
  op.count = static_cast<std::int16_t>(3 * swaps);
  ResourceUse use;
  use.valu = use.issue = static_cast<float>(target.valuCycles * op.count);
  const int reduced = builder.add(op, use);
  after(maximum, reduced, n * target.valuCycles);
  // Maximum, difference, its exponential; n differences and exponentials; n sums, n / 2
  // conversions.
  each.weights = woven(SoftmaxPart::weights, column, 4 + 3 * n + ceilDiv(n, 2), n + 1, reduced,
                       op.count * target.valuCycles);
  builder.depend(each.weights, each.weights, 4 * target.valuCycles, 1);
  const int accumulators = v.tile.fragments * schedule.tiling.mfmaM * schedule.tiling.mfmaN / 64;
  // Two at a time; out of AGPRs and back each for itself.
  const int rescaled =
      ceilDiv(accumulators, 2) + (resultsInAgpr(attention, schedule) ? 2 * accumulators : 0);
  // Lazily: whether any row's maximum rose by much, and a branch.
  each.rescale = woven(SoftmaxPart::rescale, column, schedule.lazyRescale ? 3 : rescaled, 0,
                       each.weights, 4 * target.valuCycles + target.transcendentalCycles);
  each.rescaleFirst = firstWoven;
}

void AttentionBody::secondProduct() {
  const KvTile &tile = v.tile;
  for (Softmax &each : softmax) {
    each.lastOf.assign(tile.fragments, -1);
  }
  const bool shared = schedule.rowWaves > 1; // works for the step before
  for (int slice = 0; slice < tile.slices; ++slice) {
    read(v, slice);
    const int whole = converted(v, slice);
    for (int fragment = 0; fragment < tile.fragments; ++fragment) {
      const int read = whole >= 0 ? whole : v.reads[std::size_t(fragment) * tile.slices + slice];
      for (int column = 0; column < queryFragments; ++column) {
        const int vertex = matrix(TileOperand::p, fragment, column, slice);
        Softmax &each = softmax[column];
        int &last = each.lastOf[fragment];
        if (last >= 0) {
          builder.depend(last, vertex, matrixCycles);
        } else if (!shared) {
          builder.depend(each.rescale, vertex, matrixCycles);
        }
        builder.depend(read, vertex, target.ldsLatencyCycles);
        if (slice == 0) {
          each.firstOf.push_back(vertex);
        }
        last = vertex;
      }
    }
  }
  for (const Softmax &each : softmax) {
    for (const int last : each.lastOf) {
      if (!shared) {
        builder.depend(last, each.rescale, matrixCycles, 1);
      }
    }
  }
}

/// Loads of the tile that all waves share, and on the lds path the writes of what was loaded an
/// iteration before.
void AttentionBody::loadShared(Operand &operand, int topWait, int barrier) {
  if (operand.tile.pieces == 0) {
    return; // latent v
  }
  if (!operand.direct) {
    TileOp arrived{TileOpKind::wait, operand.tile.operand};
    arrived.pendingVector = 0;
    arrived.ahead = static_cast<std::int16_t>(operand.ahead - 1);
    operand.wait = builder.add(arrived, issueOf(1));
    write(operand);
    for (const int written : operand.writes) {
      builder.depend(operand.wait, written, issueCycles);
      builder.depend(barrier, written, issueCycles);
      builder.depend(written, topWait, target.ldsLatencyCycles, 1);
    }
  }
  load(operand);
  for (const int loaded : operand.loads) {
    if (operand.direct) {
      builder.depend(barrier, loaded, issueCycles);
      builder.depend(loaded, topWait, target.l2LatencyCycles, schedule.pipeline.stages - 1);
    } else {
      builder.depend(loaded, operand.wait, target.l2LatencyCycles, 1);
    }
  }
}

/// What the barrier has published is read behind it, and left before the stage is filled again.
void AttentionBody::orderShared(Operand &operand, int topWait, int barrier) {
  for (const int read : operand.reads) {
    builder.depend(barrier, read, schedule.waves > 1 ? barrierCycles : 0);
    builder.depend(read, topWait, target.ldsLatencyCycles, 1);
  }
}

UnfinishedLoop AttentionBody::shared(bool masked) {
  TileOp scalar{TileOpKind::vector};
  scalar.count = stepInstructions;
  builder.add(scalar, issueOf(stepInstructions));
  TileOp top{TileOpKind::wait};
  top.pendingVector = k.direct ? 0 : -1;
  top.pendingLds = 0;
  const int topWait = builder.add(top, issueOf(1));
  const int barrier = builder.add({TileOpKind::barrier}, issueOf(1));
  builder.depend(topWait, barrier, issueCycles);
  pageAddresses();
  // Loads and writes run ahead of the steps that the iteration multiplies.
  k.ahead = schedule.pipeline.stages - (k.direct ? 1 : 0);
  v.ahead = schedule.pipeline.stages - (v.direct ? 1 : 0);
  loadShared(k, topWait, barrier);
  if (!attention.latent()) {
    loadShared(v, topWait, barrier);
  }
  // Reads follow the barrier alone: what is written and loaded now goes to other stages.
  for (Operand *each : {&k, &v}) {
    each->writes.clear();
    each->direct = false;
  }
  for (int slice = 0; slice < k.tile.slices; ++slice) {
    read(k, slice);
  }
  firstProduct();
  secondProduct();
  for (int column = 0; column < queryFragments; ++column) {
    softmaxOf(column, masked);
    Softmax &each = softmax[column];
    for (const int last : each.lastOf) {
      builder.depend(last, each.rescaleFirst, matrixCycles);
    }
    // The weights and the rescaled results are what the next iteration multiplies and adds to.
    for (const int first : each.firstOf) {
      builder.depend(each.weights, first, target.transcendentalCycles, 1);
      builder.depend(each.rescale, first, issueCycles, 1);
    }
  }
  orderShared(k, topWait, barrier);
  orderShared(v, topWait, barrier);
  return {std::move(builder), LoopOrder::interleaved};
}

/// A load arrives before it is used, and its registers or its stage are free before it is issued.
void AttentionBody::orderLoads(Operand &operand) {
  for (std::size_t piece = 0; piece < operand.loads.size(); ++piece) {
    const int load = operand.loads[piece];
    if (operand.direct) {
      builder.depend(load, operand.wait, target.l2LatencyCycles, operand.ahead);
      for (const int read : operand.reads) {
        builder.depend(read, load, target.ldsLatencyCycles, 1);
      }
      continue;
    }
    const auto arrives = [&](int user) {
      if (operand.ahead > 0 || load < user) {
        builder.depend(load, user, target.l2LatencyCycles, operand.ahead);
      }
    };
    if (!operand.writes.empty()) {
      arrives(operand.writes[piece]);
      continue;
    }
    // Fragments of k: this piece's products are the first users.
    for (const Softmax &each : softmax) {
      arrives(each.products[piece / operand.tile.slices]);
    }
  }
}

UnfinishedLoop AttentionBody::own(bool masked) {
  TileOp scalar{TileOpKind::vector}; // operand none: bookkeeping, nothing to emit
  scalar.count = stepInstructions;
  builder.add(scalar, issueOf(stepInstructions));
  if (k.direct) {
    wait(k);
  }
  pageAddresses();
  for (Operand *each : {&k, &v}) {
    if (each->direct || each->ahead == 0) {
      load(*each);
    }
  }
  const bool late = k.ahead > 0;
  if (k.tile.layout.path == OperandPath::lds) {
    write(k);
    if (late) {
      load(k);
    }
  }
  for (int slice = 0; k.tile.inLds() && slice < k.tile.slices; ++slice) {
    read(k, slice);
  }
  firstProduct();
  if (!k.tile.inLds() && late) {
    load(k);
  }
  for (int column = 0; column < queryFragments; ++column) {
    softmaxOf(column, masked);
  }
  if (v.direct) {
    wait(v);
  } else {
    write(v);
    if (v.ahead > 0) {
      load(v);
    }
  }
  secondProduct();
  orderLoads(k);
  orderLoads(v);
  return {std::move(builder), LoopOrder::serial};
}

/// Query rows, then iterations -maxAhead .. -1 of the step without what works for steps below 0.
UnfinishedLoop AttentionBody::prologue() {
  UnfinishedLoop unfinished = step(false);
  const LoopGraph body = unfinished.builder.finish(LoopOrder::serial);
  LoopBuilder list(target, sharing);
  TileOp setUp{TileOpKind::vector};
  setUp.count = setUpInstructions;
  ResourceUse use;
  use.valu = use.issue = static_cast<float>(target.valuCycles * setUpInstructions);
  list.add(setUp, use);
  TileOp query{TileOpKind::globalLoad, TileOperand::q};
  ResourceUse queryUse = issueOf(1);
  queryUse.vectorMemory = 16.0F * float(target.waveSize) / float(target.l1BytesPerClock);
  for (int column = 0; column < queryFragments; ++column) {
    for (int slice = 0; slice < k.tile.slices; ++slice) {
      query.column = static_cast<std::int16_t>(column);
      query.slice = static_cast<std::int16_t>(slice);
      list.add(query, queryUse);
    }
  }
  for (int iteration = -body.maxAhead; iteration < 0; ++iteration) {
    for (std::size_t position = 0; position < body.size(); ++position) {
      TileOp op = body.op(position);
      op.ahead = static_cast<std::int16_t>(op.ahead + iteration);
      const bool isLoad = op.kind == TileOpKind::globalLoad || op.kind == TileOpKind::directLoad;
      if (isLoad && op.ahead >= 0) {
        list.add(op, body.graph[body.order[position]].use);
      }
    }
  }
  return {std::move(list), LoopOrder::serial};
}

/// Every wave leaves maxima and sums of its rows, then its weighted results in LDS; each adds a
/// part of the columns of all waves.
UnfinishedLoop AttentionBody::reduction() {
  const WaveResults results = waveResults(attention, schedule);
  const auto size = schedule.tiling.mfmaM;
  const int stores = queryFragments * v.tile.fragments * size * size / 64 / 4; // of 16 bytes
  int last = -1;
  const auto next = [&](const TileOp &op, const ResourceUse &use, int latency) {
    const int vertex = builder.add(op, use);
    if (last >= 0) {
      builder.depend(last, vertex, latency);
    }
    last = vertex;
  };
  const auto accesses = [&](TileOpKind kind, int count, int bytes) {
    TileOp op{kind, TileOperand::o};
    op.count = static_cast<std::int16_t>(count);
    ResourceUse use = issueOf(count);
    use.lds = float(count * target.waveSize * bytes) / float(kind == TileOpKind::ldsRead
                                                                 ? target.ldsReadBytesPerClock
                                                                 : target.ldsWriteBytesPerClock);
    next(op, use, target.ldsLatencyCycles);
  };
  const auto arithmetic = [&](int count, int transcendentals) {
    TileOp op{TileOpKind::vector, TileOperand::o};
    op.count = static_cast<std::int16_t>(count);
    op.transcendentals = static_cast<std::int16_t>(transcendentals);
    ResourceUse use;
    use.valu = use.issue = static_cast<float>(target.valuCycles * count);
    next(op, use, target.ldsLatencyCycles);
  };
  const auto meet = [&] {
    TileOp op{TileOpKind::wait};
    op.pendingLds = 0;
    next(op, issueOf(1), target.ldsLatencyCycles);
    next({TileOpKind::barrier}, issueOf(1), issueCycles);
  };
  meet();
  accesses(TileOpKind::ldsWrite, queryFragments, 8);
  meet();
  accesses(TileOpKind::ldsRead, queryFragments * results.waves, 8);
  arithmetic(queryFragments * (4 * results.waves + 2) + 2 * stores,
             queryFragments * (results.waves + 1));
  accesses(TileOpKind::ldsWrite, stores, 16);
  meet();
  accesses(TileOpKind::ldsRead, stores, 16);
  arithmetic(4 * stores, 0);
  return {std::move(builder), LoopOrder::serial};
}

/// Where waves share tiles the last step's O^T stands behind the loop.
void AttentionBody::drain() {
  TileOp landed{TileOpKind::wait};
  landed.pendingVector = 0;
  landed.pendingLds = 0;
  const int wait = builder.add(landed, issueOf(1));
  const int barrier = builder.add({TileOpKind::barrier}, issueOf(1));
  builder.depend(wait, barrier, issueCycles);
  v.direct = false; // reads follow the barrier
  secondProduct();
  for (const int read : v.reads) {
    builder.depend(barrier, read, schedule.waves > 1 ? barrierCycles : 0);
  }
}

/// Division by the sum, conversion, stores; partial results go out as they are.
UnfinishedLoop AttentionBody::epilogue() {
  if (schedule.rowWaves > 1) {
    drain();
  }
  const bool partial = schedule.split.kv > 1;
  const int values = ceilDiv(schedule.tiling.rows * static_cast<int>(attention.dv),
                             schedule.waves * target.waveSize);
  const int stores = std::max(1, values / 4);
  const int bytes = partial ? 16 : 8;
  TileOp scale{TileOpKind::vector, TileOperand::o}, store{TileOpKind::store, TileOperand::o};
  scale.count = static_cast<std::int16_t>(partial ? 1 : values + 4);
  scale.transcendentals = partial ? 0 : 2;
  store.count = static_cast<std::int16_t>(stores);
  ResourceUse storeUse = issueOf(stores);
  storeUse.vectorMemory = float(stores * target.waveSize * bytes) / float(target.l1BytesPerClock);
  const int scaled = builder.add(scale, vectorUse(target, scale.count));
  for (const Softmax &each : softmax) {
    for (const int last : each.lastOf) {
      builder.depend(last, scaled, matrixCycles);
    }
  }
  builder.depend(scaled, builder.add(store, storeUse), target.valuCycles);
  return {std::move(builder), LoopOrder::serial};
}

/// The second launch: a wave a row.
class CombineBody {
public:
  CombineBody(const Attention &attention, const AttentionSchedule &schedule, const Target &target)
      : target(target), builder(target, {4, 1, target.simdsPerCu}),
        elements(std::max(1, static_cast<int>(attention.dv) / target.waveSize)),
        chunk(combineChunk(schedule.split.kv)) {}

  UnfinishedLoop loop() {
    std::vector<int> loads;
    for (const auto &[operand, bytes] :
         {std::pair{TileOperand::lse, 8}, std::pair{TileOperand::p, elements * 4}}) {
      for (int split = 0; split < chunk; ++split) {
        TileOp op{TileOpKind::globalLoad, operand};
        op.piece = static_cast<std::int16_t>(split);
        ResourceUse use = issueOf(1);
        use.vectorMemory = float(bytes * target.waveSize) / float(target.l1BytesPerClock);
        loads.push_back(builder.add(op, use));
      }
    }
    const int update = vector(2 + (4 + elements) * chunk + elements, chunk + 1);
    for (const int load : loads) {
      builder.depend(load, update, target.l2LatencyCycles);
    }
    builder.depend(update, update, 8 * target.valuCycles, 1);
    return {std::move(builder), LoopOrder::serial};
  }

  UnfinishedLoop prologue() {
    vector(setUpInstructions / 2, 0);
    return {std::move(builder), LoopOrder::serial};
  }

  UnfinishedLoop epilogue() {
    const int scaled = vector(elements + 4, 2);
    TileOp op{TileOpKind::store, TileOperand::o};
    ResourceUse use = issueOf(1);
    use.vectorMemory = float(elements * 2 * target.waveSize) / float(target.l1BytesPerClock);
    builder.depend(scaled, builder.add(op, use), target.transcendentalCycles);
    return {std::move(builder), LoopOrder::serial};
  }

private:
  int vector(int count, int transcendentals) {
    TileOp op{TileOpKind::vector, TileOperand::o};
    op.count = static_cast<std::int16_t>(count);
    op.transcendentals = static_cast<std::int16_t>(transcendentals);
    return builder.add(op, vectorUse(target, count, transcendentals));
  }

  const Target &target;
  LoopBuilder builder;
  int elements, chunk;
};

} // namespace

int unrolledSteps(const AttentionSchedule &schedule) {
  const bool direct =
      schedule.k.path == OperandPath::direct || schedule.v.path == OperandPath::direct;
  return direct ? schedule.pipeline.stages : std::max(1, schedule.pipeline.prefetch);
}

int combineChunk(int splits) {
  int chunk = std::min(splits, 8);
  while (splits % chunk != 0) {
    --chunk;
  }
  return chunk;
}

UnfinishedLoop attentionLoop(const Attention &attention, const AttentionSchedule &schedule,
                             const Target &target, RegionKind region, bool combine) {
  if (combine) {
    CombineBody body(attention, schedule, target);
    switch (region) {
    case RegionKind::prologue:
      return body.prologue();
    case RegionKind::epilogue:
      return body.epilogue();
    default:
      return body.loop();
    }
  }
  AttentionBody body(attention, schedule, target);
  switch (region) {
  case RegionKind::prologue:
    return body.prologue();
  case RegionKind::reduction:
    return body.reduction();
  case RegionKind::epilogue:
    return body.epilogue();
  default:
    return body.step(region == RegionKind::diagonal);
  }
}

} // namespace kw
