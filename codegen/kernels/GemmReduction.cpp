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
  Block *others = tiles.blockBehind(), *next = tiles.blockBehind();
  LLVM::CondBrOp::create(tiles.builder, tiles.loc, condition, others, next);
  tiles.builder.setInsertionPointToEnd(next);
  return others;
}

/// A tile's partial sums and arrivals in memory.
class PartialSums {
public:
  /// `base`: of the tile's first part, `bytes` (i32) from there; `counters`: number of the tile's.
  PartialSums(KernelShell &shell, const GemmSchedule &schedule, const WorkItem &item,
              const std::vector<Value> &fragments, Value base, Value bytes, Value counters)
      : tiles(shell.tiles), accumulators(tiles, fragments), quads(accumulators.count()),
        schedule(schedule), partials(tiles.buffer(base, bytes)) {
    Value lane = tiles.rem(item.index, waveSize);
    laneQuad = tiles.mul(lane, quad * floatBytes);
    laneWord = tiles.mul(lane, floatBytes);
    wavePart = tiles.mul(item.wave, partialWaveBytes(schedule));
    quadType = tiles.vectorType(quad, tiles.builder.getF32Type());
    Value index = tiles.add(tiles.mul(counters, resultWaves(schedule)), item.wave);
    Value counter =
        tiles.advance(shell.argument(arrivalsName), tiles.mul(tiles.widen(index), floatBytes));
    arrivals = tiles.buffer(counter, tiles.constant(floatBytes));
  }

  static std::int64_t tileBytes(const GemmSchedule &schedule) {
    return resultWaves(schedule) * partialWaveBytes(schedule);
  }
  bool isAtomic() const { return schedule.split.reduce == Reduction::atomic; }

  /// Scalar offset of the wave's partial sums, so many tiles' worth behind the first part's.
  Value partAt(Value slot) {
    return isAtomic() ? wavePart : tiles.add(wavePart, tiles.mul(slot, tileBytes(schedule)));
  }

  void leave(Value part) {
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
  Value arrive() { return tiles.arrive(arrivals, laneWord); }
  void resetArrivals() {
    tiles.store(tiles.constant(0), {arrivals, laneWord, tiles.constant(0), 0});
  }

  Value load(Value part, int index) { return tiles.load(quadType, addressOf(part, index)); }

  /// Of an atomic tile; leaves zeros.
  std::vector<Value> takeSums() {
    std::vector<Value> sums;
    for (int index = 0; index < quads; ++index) {
      sums.push_back(load(wavePart, index));
    }
    Value zero = LLVM::ZeroOp::create(tiles.builder, tiles.loc, quadType);
    for (int index = 0; index < quads; ++index) {
      tiles.store(zero, addressOf(wavePart, index));
    }
    return sums;
  }

  TileBuilder &tiles;
  Quads accumulators;
  int quads;
  Type quadType;

private:
  GlobalAddress addressOf(Value part, int index) {
    // An instruction's own offset has 12 bits.
    constexpr int perScalar = 4096 / quadBytes;
    const std::int64_t before = index / perScalar * perScalar * quadBytes;
    return {partials, laneQuad, before == 0 ? part : tiles.add(part, before),
            static_cast<std::int32_t>(index % perScalar * quadBytes)};
  }

  const GemmSchedule &schedule;
  Value partials, arrivals; ///< buffers
  Value laneQuad, laneWord, wavePart;
};

/// The same number of splits in every tile.
class SplitReducer {
public:
  SplitReducer(KernelShell &shell, const GemmSchedule &schedule, const WorkItem &item,
               const SplitPlace &place, const std::vector<Value> &accumulators)
      : tiles(shell.tiles), splits(schedule.split.k), place(place),
        partial(shell, schedule, item, accumulators, baseOf(shell, schedule, place),
                tiles.constant(bytesOf(schedule)), place.tile) {}

  std::vector<Value> run() {
    partial.leave(partial.partAt(place.split));
    Block *others = branchOff(tiles, tiles.lessThan(partial.arrive(), tiles.constant(splits - 1)));
    {
      OpBuilder::InsertionGuard guard(tiles.builder);
      tiles.builder.setInsertionPointToEnd(others);
      LLVM::ReturnOp::create(tiles.builder, tiles.loc, ValueRange{});
    }
    std::vector<Value> sums = partial.isAtomic() ? partial.takeSums() : addInOrder();
    partial.resetArrivals();
    return partial.accumulators.joined(sums);
  }

private:
  static std::int64_t bytesOf(const GemmSchedule &schedule) {
    return partialsPerTile(schedule) * PartialSums::tileBytes(schedule);
  }
  static Value baseOf(KernelShell &shell, const GemmSchedule &schedule, const SplitPlace &place) {
    TileBuilder &tiles = shell.tiles;
    return tiles.advance(shell.argument(partialsName),
                         tiles.mul(tiles.widen(place.tile), bytesOf(schedule)));
  }

  /// Groups of loads, the next one under way while one is added.
  std::vector<Value> addInOrder() {
    std::vector<std::pair<int, int>> order; // (quad, split), splits of a quad ascending
    const int splitsAtOnce = std::min(splits, partialLoads);
    const int quadsAtOnce = partialLoads / splitsAtOnce;
    for (int first = 0; first < partial.quads; first += quadsAtOnce) {
      for (int split = 0; split < splits; split += splitsAtOnce) {
        for (int index = first; index < std::min(partial.quads, first + quadsAtOnce); ++index) {
          for (int s = split; s < std::min(splits, split + splitsAtOnce); ++s) {
            order.emplace_back(index, s);
          }
        }
      }
    }
    std::vector<Value> parts;
    for (int split = 0; split < splits; ++split) {
      parts.push_back(partial.partAt(tiles.constant(split)));
    }
    std::vector<Value> loaded(order.size());
    const auto load = [&](std::size_t first) {
      const std::size_t end = std::min(order.size(), first + partialLoads);
      for (std::size_t i = first; i < end; ++i) {
        loaded[i] = partial.load(parts[order[i].second], order[i].first);
      }
    };
    std::vector<Value> sums(static_cast<std::size_t>(partial.quads));
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

  TileBuilder &tiles;
  int splits;
  const SplitPlace &place;
  PartialSums partial;
};

/// As many parts as the tile has. Slots of a tile's parts, from the first one's (slot 1 of its
/// workgroup) on: 0, then every other one (slot 0 of the workgroups that follow).
class StreamReducer {
public:
  StreamReducer(KernelShell &shell, const GemmSchedule &schedule, const WorkItem &item,
                const StreamPlace &place, const PartialGroup &group,
                const std::vector<Value> &accumulators)
      : tiles(shell.tiles), agpr(schedule.accumulator == AccumulatorFile::agpr), place(place),
        group(group), others(tiles.sub(place.last, place.first)),
        partial(shell, schedule, item, accumulators, baseOf(shell, schedule, place),
                bytesOf(schedule), place.first) {}

  std::vector<Value> run() {
    partial.leave(partial.partAt(slotOf(tiles.sub(place.own, place.first))));
    Block *earlier = branchOff(tiles, tiles.lessThan(partial.arrive(), others));
    {
      OpBuilder::InsertionGuard guard(tiles.builder);
      tiles.builder.setInsertionPointToEnd(earlier);
      LLVM::BrOp::create(tiles.builder, tiles.loc, ValueRange{}, place.next);
    }
    std::vector<Value> sums = partial.isAtomic() ? partial.takeSums() : addInOrder();
    partial.resetArrivals();
    return pinned(partial.accumulators.joined(sums));
  }

private:
  Value slotOf(Value part) {
    Value slot = tiles.add(tiles.mul(part, 2), -1);
    return tiles.select(tiles.lessThan(part, tiles.constant(1)), tiles.constant(0), slot);
  }

  Value baseOf(KernelShell &shell, const GemmSchedule &schedule, const StreamPlace &at) {
    const std::int64_t bytes = PartialSums::tileBytes(schedule);
    Value slots = tiles.widen(at.first);
    if (schedule.split.reduce == Reduction::ordered) {
      slots = tiles.add(tiles.mul(slots, 2), tiles.wideConstant(1));
    }
    return tiles.advance(shell.argument(partialsName), tiles.mul(slots, bytes));
  }
  Value bytesOf(const GemmSchedule &schedule) {
    const std::int64_t bytes = PartialSums::tileBytes(schedule);
    return schedule.split.reduce == Reduction::atomic
               ? tiles.constant(bytes)
               : tiles.mul(tiles.add(slotOf(others), 1), bytes);
  }

  /// Some fragments after others, so that sums of AGPRs don't all need a VGPR at once.
  std::vector<Value> addInOrder() {
    std::vector<Value> sums;
    for (int first = 0; first < partial.quads; first += group.quads) {
      addQuads(first, std::min(partial.quads, first + group.quads), sums);
    }
    return sums;
  }

  /// A loop over the parts, in order. Appends the sums of quads [first, end).
  void addQuads(int first, int end, std::vector<Value> &sums) {
    OpBuilder &builder = tiles.builder;
    Value zero = LLVM::ZeroOp::create(builder, tiles.loc, partial.quadType);
    SmallVector<Value> carried{tiles.constant(0)};
    for (int index = first; index < end; ++index) {
      carried.push_back(tiles.pinAccumulator(zero, /*agpr=*/false));
    }
    Block *loop = tiles.blockBehind(), *after = tiles.blockBehind();
    LLVM::BrOp::create(builder, tiles.loc, carried, loop);
    for (Value &value : carried) {
      value = loop->addArgument(value.getType(), tiles.loc);
    }
    builder.setInsertionPointToEnd(loop);
    addPart(carried, first);
    carried[0] = tiles.add(carried[0], 1);
    Value done = tiles.lessThan(others, carried[0]);
    LLVM::CondBrOp::create(builder, tiles.loc, done, after, ValueRange{}, loop, carried);
    builder.setInsertionPointToEnd(after);
    for (Value sum : llvm::drop_begin(carried)) {
      sums.push_back(agpr ? tiles.pinAccumulator(sum, agpr) : sum);
    }
  }

  /// Groups of loads, the next one under way while one is added. `carried`: part, then sums of the
  /// quads from `first` on.
  void addPart(SmallVector<Value> &carried, int first) {
    Value part = partial.partAt(slotOf(carried[0]));
    const std::size_t count = carried.size() - 1;
    std::vector<Value> loaded;
    const auto loadUpTo = [&](std::size_t end) {
      while (loaded.size() < std::min(end, count)) {
        loaded.push_back(partial.load(part, first + static_cast<int>(loaded.size())));
      }
    };
    const auto together = static_cast<std::size_t>(std::max(1, group.inFlight / 2));
    for (std::size_t i = 0; i < count; ++i) {
      if (i % together == 0) {
        loadUpTo(i + 2 * together);
      }
      carried[i + 1] = LLVM::FAddOp::create(tiles.builder, tiles.loc, carried[i + 1], loaded[i]);
    }
  }

  /// Opaque: LLVM would take vectors apart that it sees the elements of.
  std::vector<Value> pinned(std::vector<Value> values) {
    for (Value &value : values) {
      value = tiles.pinAccumulator(value, agpr);
    }
    return values;
  }

  TileBuilder &tiles;
  bool agpr;
  const StreamPlace &place;
  PartialGroup group;
  Value others; ///< parts besides one
  PartialSums partial;
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

std::vector<Value> reduceParts(KernelShell &shell, const GemmSchedule &schedule,
                               const WorkItem &item, const StreamPlace &place, int vgprs,
                               const std::vector<Value> &accumulators) {
  const PartialGroup group = partialGroup(schedule, vgprs);
  return StreamReducer(shell, schedule, item, place, group, accumulators).run();
}

} // namespace kw
