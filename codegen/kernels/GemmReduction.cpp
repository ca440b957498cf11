// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/GemmReduction.h"

#include "ir/plans/GemmSplit.h"

#include <algorithm>
#include <cassert>

using namespace mlir;

namespace kw {
namespace {

constexpr int waveSize = 64;
constexpr int quad = 4; ///< registers that move together
constexpr int floatBytes = 4;
constexpr std::int64_t quadBytes = std::int64_t{waveSize} * quad * floatBytes; ///< of a wave

/// Accumulators in quads of registers.
class Quads {
public:
  Quads(TileBuilder &tiles, const std::vector<Value> &fragments)
      : tiles(tiles), fragments(fragments),
        perFragment(static_cast<int>(
            cast<VectorType>(fragments.front().getType()).getNumElements() / quad)) {}

  int count() const { return static_cast<int>(fragments.size()) * perFragment; }

  Value operator[](int index) const {
    const int first = index % perFragment * quad;
    const std::int32_t mask[quad] = {first, first + 1, first + 2, first + 3};
    Value fragment = fragments[static_cast<std::size_t>(index / perFragment)];
    return LLVM::ShuffleVectorOp::create(tiles.builder, tiles.loc, fragment, fragment, mask);
  }

  /// Quads back to fragments.
  std::vector<Value> joined(const std::vector<Value> &quads) const {
    std::vector<Value> result;
    for (int first = 0; first < count(); first += perFragment) {
      std::vector<Value> parts(quads.begin() + first, quads.begin() + first + perFragment);
      while (parts.size() > 1) {
        std::vector<Value> wider;
        for (std::size_t i = 0; i < parts.size(); i += 2) {
          wider.push_back(tiles.join(parts[i], parts[i + 1]));
        }
        parts = std::move(wider);
      }
      result.push_back(parts.front());
    }
    return result;
  }

private:
  TileBuilder &tiles;
  const std::vector<Value> &fragments;
  int perFragment;
};

/// Goes on in a new block where `condition` does not hold; returns the one where it does.
Block *branchOff(TileBuilder &tiles, Value condition) {
  OpBuilder &builder = tiles.builder;
  Block *here = builder.getInsertionBlock();
  mlir::Region *region = here->getParent();
  Block *others = builder.createBlock(region, region->end());
  Block *next = builder.createBlock(region, region->end());
  builder.setInsertionPointToEnd(here);
  LLVM::CondBrOp::create(builder, tiles.loc, condition, others, next);
  builder.setInsertionPointToEnd(next);
  return others;
}

class SplitReducer {
public:
  SplitReducer(KernelShell &shell, const GemmSchedule &schedule, const WorkItem &item,
               const SplitPlace &place, const std::vector<Value> &accumulators)
      : shell(shell), tiles(shell.tiles), schedule(schedule), item(item), place(place),
        accumulators(tiles, accumulators), quads(this->accumulators.count()) {
    const std::int64_t bytes =
        partialsPerTile(schedule) * resultWaves(schedule) * partialWaveBytes(schedule);
    Value base =
        tiles.advance(shell.argument(partialsName), tiles.mul(tiles.widen(place.tile), bytes));
    partials = tiles.buffer(base, tiles.constant(bytes));
    Value lane = tiles.rem(item.index, waveSize);
    laneQuad = tiles.mul(lane, quad * floatBytes);
    laneWord = tiles.mul(lane, floatBytes);
    wavePart = tiles.mul(item.wave, partialWaveBytes(schedule));
    quadType = tiles.vectorType(quad, tiles.builder.getF32Type());
  }

  std::vector<Value> run() {
    leave();
    Value before = arrive();
    continueIfLast(before);
    std::vector<Value> sums = isAtomic() ? takeSums() : addInOrder();
    tiles.store(tiles.constant(0), {arrivals, laneWord, tiles.constant(0), 0}); // one lane's
    return accumulators.joined(sums);
  }

private:
  bool isAtomic() const { return schedule.split.reduce == Reduction::atomic; }

  /// Scalar offset of the wave's partial sums of `split`.
  Value partOf(Value split) {
    const std::int64_t splitBytes = resultWaves(schedule) * partialWaveBytes(schedule);
    return isAtomic() ? wavePart : tiles.add(wavePart, tiles.mul(split, splitBytes));
  }

  GlobalAddress addressOf(Value part, int index) {
    // An instruction's own offset has 12 bits.
    constexpr int perScalar = 4096 / quadBytes;
    const std::int64_t before = index / perScalar * perScalar * quadBytes;
    return {partials, laneQuad, before == 0 ? part : tiles.add(part, before),
            static_cast<std::int32_t>(index % perScalar * quadBytes)};
  }

  void leave() {
    Value part = partOf(place.split);
    for (int index = 0; index < quads; ++index) {
      const GlobalAddress to = addressOf(part, index);
      Value values = accumulators[index];
      if (!isAtomic()) {
        tiles.store(values, to);
        continue;
      }
      for (int i = 0; i < quad; ++i) {
        Value one =
            LLVM::ExtractElementOp::create(tiles.builder, tiles.loc, values, tiles.constant(i));
        tiles.atomicAdd(one, {to.buffer, to.lane, to.scalar, to.immediate + i * floatBytes});
      }
    }
  }

  /// Only the first lane's counter lies within the buffer.
  Value arrive() {
    Value index = tiles.add(tiles.mul(place.tile, resultWaves(schedule)), item.wave);
    Value base =
        tiles.advance(shell.argument(arrivalsName), tiles.mul(tiles.widen(index), floatBytes));
    arrivals = tiles.buffer(base, tiles.constant(floatBytes));
    return tiles.arrive(arrivals, laneWord);
  }

  void continueIfLast(Value before) {
    Block *others = branchOff(tiles, tiles.lessThan(before, tiles.constant(schedule.split.k - 1)));
    OpBuilder::InsertionGuard guard(tiles.builder);
    tiles.builder.setInsertionPointToEnd(others);
    LLVM::ReturnOp::create(tiles.builder, tiles.loc, ValueRange{});
  }

  /// Groups of loads, the next one under way while one is added.
  std::vector<Value> addInOrder() {
    const int splits = schedule.split.k;
    std::vector<std::pair<int, int>> order; // (quad, split), splits of a quad ascending
    const int splitsAtOnce = std::min(splits, partialLoads);
    const int quadsAtOnce = partialLoads / splitsAtOnce;
    for (int first = 0; first < quads; first += quadsAtOnce) {
      for (int split = 0; split < splits; split += splitsAtOnce) {
        for (int index = first; index < std::min(quads, first + quadsAtOnce); ++index) {
          for (int s = split; s < std::min(splits, split + splitsAtOnce); ++s) {
            order.emplace_back(index, s);
          }
        }
      }
    }
    std::vector<Value> parts;
    for (int split = 0; split < splits; ++split) {
      parts.push_back(partOf(tiles.constant(split)));
    }
    std::vector<Value> loaded(order.size());
    const auto load = [&](std::size_t first) {
      const std::size_t end = std::min(order.size(), first + partialLoads);
      for (std::size_t i = first; i < end; ++i) {
        loaded[i] = tiles.load(quadType, addressOf(parts[order[i].second], order[i].first));
      }
    };
    std::vector<Value> sums(static_cast<std::size_t>(quads));
    load(0);
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i % partialLoads == 0) {
        load(i + partialLoads);
      }
      Value &sum = sums[static_cast<std::size_t>(order[i].first)];
      sum = sum ? LLVM::FAddOp::create(tiles.builder, tiles.loc, sum, loaded[i]).getResult()
                : loaded[i];
    }
    return sums;
  }

  /// Leaves zeros.
  std::vector<Value> takeSums() {
    std::vector<Value> sums;
    for (int index = 0; index < quads; ++index) {
      sums.push_back(tiles.load(quadType, addressOf(wavePart, index)));
    }
    Value zero = LLVM::ZeroOp::create(tiles.builder, tiles.loc, quadType);
    for (int index = 0; index < quads; ++index) {
      tiles.store(zero, addressOf(wavePart, index));
    }
    return sums;
  }

  KernelShell &shell;
  TileBuilder &tiles;
  const GemmSchedule &schedule;
  const WorkItem &item;
  const SplitPlace &place;
  Quads accumulators;
  int quads;
  Value partials, arrivals; ///< buffers
  Value laneQuad, laneWord, wavePart;
  Type quadType;
};

/// LDS: [part - 1][wave][quad][lane][4], the parts behind the first.
class SliceReducer {
public:
  SliceReducer(KernelShell &shell, const GemmSchedule &schedule, const WorkItem &item, Value lds,
               const std::vector<Value> &accumulators)
      : tiles(shell.tiles), schedule(schedule), item(item), quads(tiles, accumulators),
        waveBytes(partialWaveBytes(schedule)), lds(lds),
        laneQuad(tiles.mul(tiles.rem(item.index, waveSize), quad * floatBytes)) {}

  std::vector<Value> run() {
    Value isFirst = tiles.lessThan(item.wave, tiles.constant(resultWaves(schedule)));
    Block *first = branchOff(tiles, isFirst);
    leave();
    tiles.builder.setInsertionPointToEnd(first);
    tiles.barrier();
    return quads.joined(sums());
  }

private:
  void leave() {
    Value wave = tiles.sub(item.wave, tiles.constant(resultWaves(schedule)));
    Value place = tiles.add(tiles.mul(wave, waveBytes), laneQuad);
    for (int index = 0; index < quads.count(); ++index) {
      tiles.storeLds(quads[index], lds, place, static_cast<std::int32_t>(index * quadBytes));
    }
    tiles.wait(-1, 0);
    tiles.barrier();
    LLVM::ReturnOp::create(tiles.builder, tiles.loc, ValueRange{});
  }

  std::vector<Value> sums() {
    Value place = tiles.add(tiles.mul(item.wave, waveBytes), laneQuad);
    Type type = tiles.vectorType(quad, tiles.builder.getF32Type());
    std::vector<Value> result;
    for (int index = 0; index < quads.count(); ++index) {
      Value sum = quads[index];
      for (int part = 1; part < schedule.tiling.wavesK; ++part) {
        const std::int64_t before = (part - 1) * resultWaves(schedule) * waveBytes;
        const auto immediate = static_cast<std::int32_t>(before + index * quadBytes);
        Value other = tiles.readLds(type, lds, place, {immediate});
        sum = LLVM::FAddOp::create(tiles.builder, tiles.loc, sum, other);
      }
      result.push_back(sum);
    }
    return result;
  }

  TileBuilder &tiles;
  const GemmSchedule &schedule;
  const WorkItem &item;
  Quads quads;
  std::int64_t waveBytes;
  Value lds, laneQuad;
};

} // namespace

std::vector<Value> reduceSlices(KernelShell &shell, const GemmSchedule &schedule,
                                const WorkItem &item, Value lds,
                                const std::vector<Value> &accumulators) {
  return SliceReducer(shell, schedule, item, lds, accumulators).run();
}

std::vector<Value> reduceSplits(KernelShell &shell, const GemmSchedule &schedule,
                                const WorkItem &item, const SplitPlace &place,
                                const std::vector<Value> &accumulators) {
  return SplitReducer(shell, schedule, item, place, accumulators).run();
}

} // namespace kw
