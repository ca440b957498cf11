// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/TopKLoop.h"

#include "ir/plans/OperationCosts.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kw {
namespace {

constexpr int setUpInstructions = 40; ///< addresses before the first load [A]
constexpr int lanes = 64;
/// Of one exchange of a bitonic network and register: the neighbour's value and column, a
/// comparison, two selections.
constexpr int exchangeInstructions = 5;
constexpr int entryBytes = 8; ///< value and column

int elementBytes(const TopKSelection &op) { return std::max(1, bitWidth(op.type) / 8); }

int log2Of(std::int64_t value) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - 1;
}

class TopKBody {
public:
  TopKBody(const TopKSelection &op, const TopKSchedule &schedule, const Target &target)
      : op(op), schedule(schedule), target(target),
        builder(target, {schedule.waves(), 1, target.simdsPerCu}),
        registers(static_cast<int>(listEntries(op) / lanes)) {}

  UnfinishedLoop prologue() {
    vector(setUpInstructions);
    return done();
  }

  UnfinishedLoop stream() {
    const int elements = std::max(1, schedule.vectorBytes / elementBytes(op));
    TileOp load{TileOpKind::globalLoad, TileOperand::x};
    load.ahead = static_cast<std::int16_t>(schedule.prefetch);
    ResourceUse use = issueOf(1);
    use.vectorMemory =
        float(target.waveSize * schedule.vectorBytes) / float(target.l1BytesPerClock);
    const int loaded = builder.add(load, use);
    TileOp wait{TileOpKind::wait, TileOperand::x};
    wait.pendingVector = 0;
    const int waited = builder.add(wait, issueOf(1));
    builder.depend(loaded, waited, target.l2LatencyCycles, schedule.prefetch);
    // Conversion, comparison; ballot, count and branch of the whole trip.
    const int compared = vector(elements * (elementBytes(op) < 4 ? 2 : 1) + 3);
    builder.depend(waited, compared, issueCycles);
    return done();
  }

  /// 64 candidates are sorted and merged into the list.
  UnfinishedLoop merge() {
    constexpr int sortStages = 21; // 6 * 7 / 2
    const int sorted = vector(sortStages * exchangeInstructions);
    const int merged = vector(mergeInstructions());
    builder.depend(sorted, merged, sortStages * exchangeInstructions * target.valuCycles);
    return done();
  }

  /// Lists of the other waves: written, published, read and merged one by one by the first.
  UnfinishedLoop reduction() {
    const int others = schedule.wavesPerRow - 1;
    const auto moves = [&](TileOpKind kind, int count, int bytesPerClock) {
      TileOp move{kind, TileOperand::partial};
      move.count = static_cast<std::int16_t>(count);
      ResourceUse use = issueOf(count);
      use.lds = float(count * target.waveSize * entryBytes) / float(bytesPerClock);
      return builder.add(move, use);
    };
    const int written = moves(TileOpKind::ldsWrite, registers, target.ldsWriteBytesPerClock);
    const int met = builder.add({TileOpKind::barrier}, issueOf(1));
    builder.depend(written, met, target.ldsLatencyCycles);
    const int read = moves(TileOpKind::ldsRead, registers * others, target.ldsReadBytesPerClock);
    builder.depend(met, read, barrierCycles);
    builder.depend(read, vector(others * mergeInstructions()), target.ldsLatencyCycles);
    return done();
  }

  UnfinishedLoop epilogue() {
    const int converted = vector(registers * (op.indexType == ElementType::i64 ? 2 : 1));
    for (const int bytes : {elementBytes(op), bitWidth(op.indexType) / 8}) {
      TileOp store{TileOpKind::store, TileOperand::y};
      store.count = static_cast<std::int16_t>(registers);
      ResourceUse use = issueOf(registers);
      use.vectorMemory = float(registers * target.waveSize * bytes) / float(target.l1BytesPerClock);
      builder.depend(converted, builder.add(store, use), target.valuCycles);
    }
    return done();
  }

private:
  /// Best half of two sorted lists, sorted again.
  int mergeInstructions() const {
    return registers * exchangeInstructions * (1 + log2Of(listEntries(op)));
  }

  int vector(int count) {
    TileOp work{TileOpKind::vector, TileOperand::x};
    work.count = static_cast<std::int16_t>(count);
    return builder.add(work, vectorUse(target, count));
  }
  UnfinishedLoop done() { return {std::move(builder), LoopOrder::serial}; }

  const TopKSelection &op;
  const TopKSchedule &schedule;
  const Target &target;
  LoopBuilder builder;
  int registers; ///< of the list, a lane: values; as many columns
};

} // namespace

std::int64_t listEntries(const TopKSelection &op) {
  return static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(op.k, lanes))));
}

std::int64_t rowTrips(const TopKSelection &op, const TopKSchedule &schedule) {
  const std::int64_t bytes =
      std::int64_t(std::max(1, schedule.wavesPerRow)) * lanes * std::max(1, schedule.vectorBytes);
  return ceilDiv<std::int64_t>(op.cols * elementBytes(op), bytes);
}

std::int64_t expectedMerges(const TopKSelection &op, const TopKSchedule &schedule) {
  const double columns =
      static_cast<double>(op.cols) / static_cast<double>(std::max(1, schedule.wavesPerRow));
  const double kept = std::min(columns, static_cast<double>(op.k));
  const double candidates = std::max(1.0, kept * (1 + std::log(columns / kept)));
  return static_cast<std::int64_t>(std::ceil(candidates / lanes));
}

UnfinishedLoop topKLoop(const TopKSelection &op, const TopKSchedule &schedule, const Target &target,
                        RegionKind region) {
  TopKBody body(op, schedule, target);
  switch (region) {
  case RegionKind::prologue:
    return body.prologue();
  case RegionKind::softmax:
    return body.merge();
  case RegionKind::reduction:
    return body.reduction();
  case RegionKind::epilogue:
    return body.epilogue();
  default:
    return body.stream();
  }
}

} // namespace kw
