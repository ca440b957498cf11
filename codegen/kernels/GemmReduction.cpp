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

class SplitReducer {
public:
  SplitReducer(KernelShell &shell, const GemmSchedule &schedule, const WorkItem &item,
               const SplitPlace &place, const std::vector<Value> &accumulators)
      : shell(shell), tiles(shell.tiles), schedule(schedule), item(item), place(place),
        accumulators(accumulators),
        quadsPerFragment(static_cast<int>(
            cast<VectorType>(accumulators.front().getType()).getNumElements() / quad)),
        quads(static_cast<int>(accumulators.size()) * quadsPerFragment) {
    const std::int64_t bytes =
        partialsPerTile(schedule) * schedule.waves() * partialWaveBytes(schedule);
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
    return joined(sums);
  }

private:
  bool isAtomic() const { return schedule.split.reduce == Reduction::atomic; }

  /// Scalar offset of the wave's partial sums of `split`.
  Value partOf(Value split) {
    const std::int64_t splitBytes = schedule.waves() * partialWaveBytes(schedule);
    return isAtomic() ? wavePart : tiles.add(wavePart, tiles.mul(split, splitBytes));
  }

  GlobalAddress addressOf(Value part, int index) {
    // An instruction's own offset has 12 bits.
    constexpr int perScalar = 4096 / quadBytes;
    const std::int64_t before = index / perScalar * perScalar * quadBytes;
    return {partials, laneQuad, before == 0 ? part : tiles.add(part, before),
            static_cast<std::int32_t>(index % perScalar * quadBytes)};
  }

  Value quadOf(int index) {
    const int first = index % quadsPerFragment * quad;
    const std::int32_t mask[quad] = {first, first + 1, first + 2, first + 3};
    Value fragment = accumulators[static_cast<std::size_t>(index / quadsPerFragment)];
    return LLVM::ShuffleVectorOp::create(tiles.builder, tiles.loc, fragment, fragment, mask);
  }

  void leave() {
    Value part = partOf(place.split);
    for (int index = 0; index < quads; ++index) {
      const GlobalAddress to = addressOf(part, index);
      Value values = quadOf(index);
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
    Value index = tiles.add(tiles.mul(place.tile, schedule.waves()), item.wave);
    Value base =
        tiles.advance(shell.argument(arrivalsName), tiles.mul(tiles.widen(index), floatBytes));
    arrivals = tiles.buffer(base, tiles.constant(floatBytes));
    return tiles.arrive(arrivals, laneWord);
  }

  void continueIfLast(Value before) {
    OpBuilder &builder = tiles.builder;
    mlir::Region *region = builder.getInsertionBlock()->getParent();
    Block *here = builder.getInsertionBlock();
    Block *last = builder.createBlock(region, region->end());
    Block *others = builder.createBlock(region, region->end());
    builder.setInsertionPointToEnd(here);
    Value isOther = tiles.lessThan(before, tiles.constant(schedule.split.k - 1));
    LLVM::CondBrOp::create(builder, tiles.loc, isOther, others, last);
    builder.setInsertionPointToEnd(others);
    LLVM::ReturnOp::create(builder, tiles.loc, ValueRange{});
    builder.setInsertionPointToEnd(last);
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

  /// Quads to fragments.
  std::vector<Value> joined(const std::vector<Value> &sums) {
    std::vector<Value> fragments;
    for (std::size_t first = 0; first < sums.size();
         first += static_cast<std::size_t>(quadsPerFragment)) {
      std::vector<Value> parts(sums.begin() + static_cast<std::ptrdiff_t>(first),
                               sums.begin() + static_cast<std::ptrdiff_t>(first) +
                                   quadsPerFragment);
      while (parts.size() > 1) {
        std::vector<Value> wider;
        for (std::size_t i = 0; i < parts.size(); i += 2) {
          wider.push_back(tiles.join(parts[i], parts[i + 1]));
        }
        parts = std::move(wider);
      }
      fragments.push_back(parts.front());
    }
    return fragments;
  }

  KernelShell &shell;
  TileBuilder &tiles;
  const GemmSchedule &schedule;
  const WorkItem &item;
  const SplitPlace &place;
  const std::vector<Value> &accumulators;
  int quadsPerFragment, quads;
  Value partials, arrivals; ///< buffers
  Value laneQuad, laneWord, wavePart;
  Type quadType;
};

} // namespace

std::vector<Value> reduceSplits(KernelShell &shell, const GemmSchedule &schedule,
                                const WorkItem &item, const SplitPlace &place,
                                const std::vector<Value> &accumulators) {
  return SplitReducer(shell, schedule, item, place, accumulators).run();
}

} // namespace kw
