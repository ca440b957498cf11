// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/RmsNormLoop.h"

#include "ir/plans/OperationCosts.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kw {
namespace {

constexpr int setUpInstructions = 40; ///< addresses before the first load [A]
/// 64 lanes: four DPP additions within 16, two permlane swaps with their additions.
constexpr int reduceInstructions = 8;

int elementBytes(ElementType type) { return std::max(1, bitWidth(type) / 8); }

/// Vector instructions for one piece of a lane.
struct PieceWork {
  int squares = 0; ///< unpack, [add the residual, round,] multiply-add
  int scale = 0;   ///< unpack, multiply by the reciprocal root [and weight], round
};

PieceWork pieceWork(const RmsNorm &norm, int elements) {
  const bool narrow = elementBytes(norm.type) < 4;
  const int unpack = narrow ? elements : 0;
  const int pack = narrow ? (elements + 1) / 2 : 0;
  PieceWork work;
  work.squares = unpack + elements + (norm.residual ? unpack + elements + pack + unpack : 0);
  if (norm.quantised) { // the row's largest magnitude, of what the weights make of it
    work.squares += elements + (norm.weight ? unpack + elements : 0);
  }
  work.scale = unpack + elements + (norm.weight ? unpack + elements : 0) +
               (elementBytes(norm.outType) < 4 ? (elements + 1) / 2 : 0);
  return work;
}

class RmsNormBody {
public:
  RmsNormBody(const RmsNorm &norm, const RmsNormSchedule &schedule, const Target &target)
      : norm(norm), schedule(schedule), target(target),
        builder(target, {schedule.waves(), 1, target.simdsPerCu}),
        elements(std::max(1, schedule.vectorBytes / elementBytes(norm.type))),
        work(pieceWork(norm, elements)) {}

  UnfinishedLoop prologue();
  UnfinishedLoop squares();
  UnfinishedLoop reduction();
  UnfinishedLoop scale();

private:
  int load(TileOperand operand, int piece, int ahead);
  int vector(int count, int transcendentals, int piece);
  void store(TileOperand operand, int piece, int bytes, int after);
  void loadRow(int piece, int ahead, std::vector<int> &loads);
  /// Squares of one piece; `distance` iterations after its loads.
  void squarePiece(int piece, const std::vector<int> &loads, int distance);
  void scalePiece(int piece, const std::vector<int> &loads);

  bool onePass() const { return schedule.passes == 1; }

  const RmsNorm &norm;
  const RmsNormSchedule &schedule;
  const Target &target;
  LoopBuilder builder;
  int elements;
  PieceWork work;
};

int RmsNormBody::load(TileOperand operand, int piece, int ahead) {
  TileOp op{TileOpKind::globalLoad, operand};
  op.piece = static_cast<std::int16_t>(piece);
  op.ahead = static_cast<std::int16_t>(ahead);
  ResourceUse use;
  use.issue = issueCycles;
  use.vectorMemory = float(target.waveSize * schedule.vectorBytes) / float(target.l1BytesPerClock);
  return builder.add(op, use);
}

int RmsNormBody::vector(int count, int transcendentals, int piece) {
  TileOp op{TileOpKind::vector};
  op.piece = static_cast<std::int16_t>(piece);
  op.count = static_cast<std::int16_t>(count);
  op.transcendentals = static_cast<std::int16_t>(transcendentals);
  ResourceUse use;
  use.valu = static_cast<float>(target.valuCycles * (count - transcendentals) +
                                target.transcendentalCycles * transcendentals);
  use.issue = static_cast<float>(issueCycles * count);
  return builder.add(op, use);
}

void RmsNormBody::store(TileOperand operand, int piece, int bytes, int after) {
  TileOp op{TileOpKind::store, operand};
  op.piece = static_cast<std::int16_t>(piece);
  ResourceUse use;
  use.issue = issueCycles;
  use.vectorMemory = float(target.waveSize * bytes) / float(target.l1BytesPerClock);
  builder.depend(after, builder.add(op, use), work.squares * target.valuCycles);
}

void RmsNormBody::loadRow(int piece, int ahead, std::vector<int> &loads) {
  loads.push_back(load(TileOperand::x, piece, ahead));
  if (norm.residual) {
    loads.push_back(load(TileOperand::residual, piece, ahead));
  }
}

void RmsNormBody::squarePiece(int piece, const std::vector<int> &loads, int distance) {
  const int squared = vector(work.squares, 0, piece);
  for (const int load : loads) {
    builder.depend(load, squared, target.hbmLatencyCycles, distance);
  }
  if (norm.residual) {
    store(TileOperand::sum, piece, schedule.vectorBytes, squared);
  }
}

void RmsNormBody::scalePiece(int piece, const std::vector<int> &loads) {
  const int again = onePass() || !norm.residual ? 0 : work.squares - 2 * elements;
  const int scaled = vector(work.scale + again, 0, piece);
  for (const int load : loads) {
    builder.depend(load, scaled, target.l2LatencyCycles, 1);
  }
  store(TileOperand::y, piece, elements * elementBytes(norm.outType), scaled);
}

UnfinishedLoop RmsNormBody::prologue() {
  vector(setUpInstructions, 0, 0);
  if (!onePass()) {
    std::vector<int> loads;
    loadRow(0, 0, loads);
  }
  return {std::move(builder), LoopOrder::serial};
}

UnfinishedLoop RmsNormBody::squares() {
  if (!onePass()) {
    std::vector<int> loads;
    loadRow(0, 1, loads);
    squarePiece(0, loads, 1);
    return {std::move(builder), LoopOrder::serial};
  }
  const int pieces = static_cast<int>(rowPieces(norm, schedule));
  std::vector<std::vector<int>> loads(pieces);
  for (int piece = 0; piece < pieces; ++piece) {
    loadRow(piece, 0, loads[piece]);
  }
  for (int piece = 0; norm.weight && piece < pieces; ++piece) {
    load(TileOperand::weight, piece, 0);
  }
  for (int piece = 0; piece < pieces; ++piece) {
    squarePiece(piece, loads[piece], 0);
  }
  return {std::move(builder), LoopOrder::serial};
}

UnfinishedLoop RmsNormBody::reduction() {
  const int reductions = norm.quantised ? 2 : 1; // the sum, and the maximum
  ResourceUse use;
  use.valu = use.issue = static_cast<float>(target.valuCycles * reductions * reduceInstructions);
  TileOp reduce{TileOpKind::reduce};
  reduce.count = static_cast<std::int16_t>(reductions * reduceInstructions);
  int last = builder.add(reduce, use);
  const auto next = [&](TileOp op, const ResourceUse &opUse, int latency) {
    const int vertex = builder.add(op, opUse);
    builder.depend(last, vertex, latency);
    last = vertex;
  };
  if (schedule.wavesPerRow > 1) {
    ResourceUse slot, access;
    slot.issue = access.issue = issueCycles;
    access.lds = 1;
    TileOp wait{TileOpKind::wait};
    wait.pendingLds = 0;
    next({TileOpKind::ldsWrite, TileOperand::sum}, access, reduceInstructions * target.valuCycles);
    next(wait, slot, target.ldsLatencyCycles);
    next({TileOpKind::barrier}, slot, issueCycles);
    TileOp read{TileOpKind::ldsRead, TileOperand::sum};
    read.count = static_cast<std::int16_t>(std::max(1, (schedule.wavesPerRow + 3) / 4));
    next(read, access, barrierCycles);
  }
  // Sum of the waves, mean, root.
  const int root = vector(reductions * (schedule.wavesPerRow + 2), reductions, 0);
  builder.depend(last, root,
                 schedule.wavesPerRow > 1 ? target.ldsLatencyCycles
                                          : reduceInstructions * target.valuCycles);
  return {std::move(builder), LoopOrder::serial};
}

UnfinishedLoop RmsNormBody::scale() {
  if (onePass()) {
    const int pieces = static_cast<int>(rowPieces(norm, schedule));
    for (int piece = 0; piece < pieces; ++piece) {
      scalePiece(piece, {});
    }
    return {std::move(builder), LoopOrder::serial};
  }
  std::vector<int> loads;
  loadRow(0, 1, loads);
  if (norm.weight) {
    loads.push_back(load(TileOperand::weight, 0, 1));
  }
  scalePiece(0, loads);
  return {std::move(builder), LoopOrder::serial};
}

} // namespace

std::int64_t rowPieces(const RmsNorm &norm, const RmsNormSchedule &schedule) {
  const std::int64_t bytes =
      std::int64_t(std::max(1, schedule.wavesPerRow)) * 64 * std::max(1, schedule.vectorBytes);
  return ceilDiv<std::int64_t>(norm.cols * elementBytes(norm.type), bytes);
}

UnfinishedLoop rmsNormLoop(const RmsNorm &norm, const RmsNormSchedule &schedule,
                           const Target &target, RegionKind region) {
  RmsNormBody body(norm, schedule, target);
  switch (region) {
  case RegionKind::prologue:
    return body.prologue();
  case RegionKind::reduction:
    return body.reduction();
  case RegionKind::epilogue:
    return body.scale();
  default:
    return body.squares();
  }
}

} // namespace kw
