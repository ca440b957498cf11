// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of an attention. `main`: a workgroup does a tile of packed query rows and a split
// of the columns of k and v. With several splits it leaves results before the division in f32, with
// the row's maximum and sum; `combine` puts them together, a wave a row.
#include "ir/AttentionLayout.h"
#include "ir/Occupancy.h"
#include "ir/plans/AttentionInterface.h"
#include "ir/plans/AttentionLoop.h"
#include "ir/plans/AttentionTiles.h"
#include "ir/plans/Plans.h"

#include <algorithm>
#include <bit>

namespace kw {
namespace {

constexpr LoopKey combineBit = LoopKey(1) << 63;

std::int32_t narrow(std::int64_t value) {
  return static_cast<std::int32_t>(std::min<std::int64_t>(value, 2147483647));
}

struct Grid {
  std::int64_t rowTiles = 1, splits = 1, heads = 1; ///< heads: of k and v, all batch entries
  std::int64_t rows = 1;                            ///< of the result: heads * packed rows
  std::int64_t tiles = 1;                           ///< row tiles of all heads
};

/// Kernels that are made for a few queries of equal sequences walk in whole trips of unrolled steps
/// and have a kind for each split; all others are counted by AttentionTiles.h.
bool walksWholeTrips(const Attention &op, const AttentionSchedule &schedule) {
  return schedule.rowWaves == 1 && isDecode(op) &&
         (op.mask == MaskKind::none || op.mask == MaskKind::causal);
}

Grid gridOf(const Attention &attention, const AttentionSchedule &schedule) {
  Grid grid;
  grid.rowTiles = ceilDiv<std::int64_t>(attention.packedRows(), schedule.tiling.rows);
  grid.splits = schedule.split.kv;
  grid.heads = attention.b * attention.hkv;
  grid.rows = grid.heads * attention.packedRows();
  grid.tiles = 0;
  for (const SequenceLength &length : attention.lengths) {
    grid.tiles += length.count * attention.hkv *
                  ceilDiv<std::int64_t>(length.queries * attention.group(), schedule.tiling.rows);
  }
  return grid;
}

void addBuffers(const Problem &problem, const AttentionSchedule &schedule, const Grid &grid,
                KernelPlan &plan) {
  const Attention &op = problem.attention();
  const auto add = [&](std::string_view name, BufferRole role, ElementType type,
                       std::int64_t elements) {
    plan.buffers.push_back({name, role, bytesOf(type, elements)});
  };
  add("q", BufferRole::input, op.type, op.b * op.hq * op.sq * op.d);
  add("k", BufferRole::input, op.kvType, op.b * op.hkv * op.skv * op.d);
  if (!op.latent()) {
    add("v", BufferRole::input, op.kvType, op.b * op.hkv * op.skv * op.dv);
  }
  if (op.page > 0) {
    add("pages", BufferRole::input, ElementType::i32, op.b * ceilDiv(op.skv, op.page));
  }
  if (op.sinks) {
    add("sinks", BufferRole::input, ElementType::f32, op.hq);
  }
  add("o", BufferRole::output, op.outType, op.b * op.hq * op.sq * op.dv);
  if (op.lse) {
    add("lse", BufferRole::output, ElementType::f32, grid.rows);
  }
  if (schedule.split.kv > 1) {
    add("partial", BufferRole::workspace, ElementType::f32, grid.splits * grid.rows * op.dv);
    add("statistics", BufferRole::workspace, ElementType::f32, grid.splits * grid.rows * 2);
  }
}

LoopKey loopKey(const AttentionSchedule &schedule, RegionKind region) {
  const auto &tiling = schedule.tiling;
  LoopKeyPacker packer;
  packer.add(static_cast<std::uint64_t>(region), 3)
      .add(tiling.rows / 16, 5)
      .add(tiling.columns / 16, 5)
      .add(schedule.waves, 5)
      .add(tiling.mfmaM / 32, 1)
      .add(tiling.mfmaK / 8, 5)
      .add(schedule.split.kv > 1 ? 1 : 0, 1);
  for (const auto *operand : {&schedule.k, &schedule.v}) {
    packer.add(static_cast<std::uint64_t>(operand->path), 2)
        .add(static_cast<std::uint64_t>(operand->layout), 2)
        .add(std::countr_zero(static_cast<unsigned>(operand->vectorBytes)), 3);
  }
  return packer.add(schedule.pipeline.stages, 4)
      .add(schedule.pipeline.prefetch, 4)
      .add(static_cast<std::uint64_t>(schedule.rowWaves), 5)
      .add(schedule.lazyRescale ? 1 : 0, 1)
      .key();
}

struct Steps {
  std::int64_t total = 0; ///< that any row of the tile sees a column of
  std::int64_t whole = 0; ///< of them, from the first on: all rows see all columns
};

/// Under a causal mask query s sees columns below skv - sq + s + 1.
Steps stepsOf(const Attention &op, const AttentionSchedule &schedule, std::int64_t rowTile) {
  const std::int64_t rows = schedule.tiling.rows, columns = schedule.stepColumns();
  std::int64_t seenByOne = op.skv, seenByAll = op.skv;
  if (op.mask == MaskKind::causal) {
    const std::int64_t first = rowTile * rows / op.group();
    const std::int64_t last = std::min(op.sq - 1, (rowTile * rows + rows - 1) / op.group());
    seenByOne = std::max<std::int64_t>(0, op.skv - op.sq + last + 1);
    seenByAll = std::max<std::int64_t>(0, op.skv - op.sq + first + 1);
  }
  return {ceilDiv(seenByOne, columns), seenByAll / columns};
}

/// Trips of the main loop and of the masked one.
struct Trips {
  std::int64_t whole = 0, masked = 0;
};
Trips tripsOf(const Steps &steps, const StepRange &range, std::int64_t unrolled) {
  const std::int64_t whole = std::clamp<std::int64_t>(steps.whole - range.first, 0, range.count);
  Trips trips;
  trips.whole = whole / unrolled * unrolled;
  trips.masked = ceilDiv(range.count - trips.whole, unrolled) * unrolled;
  return trips;
}

void addKind(LaunchPlan &launch, std::int64_t count, const Trips &trips, std::int32_t usefulM) {
  WorkgroupKind kind;
  kind.name = usefulM < launch.tileM ? "edge" : "interior";
  kind.count = count;
  kind.usefulM = usefulM;
  kind.usefulN = launch.tileN;
  for (const Region &region : launch.regions) {
    kind.trips.push_back(region.kind == RegionKind::mainLoop   ? narrow(trips.whole)
                         : region.kind == RegionKind::diagonal ? narrow(trips.masked)
                                                               : 1);
  }
  for (WorkgroupKind &known : launch.kinds) {
    if (known.trips == kind.trips && known.usefulM == kind.usefulM) {
      known.count += count;
      return;
    }
  }
  if (launch.kinds.size() < launch.kinds.capacity()) {
    launch.kinds.push_back(kind);
  } else {
    launch.kinds.back().count += count; // a step more or less
  }
}

/// All splits of `tiles` row tiles. Splits differ by one step; masks concern the last two that have
/// steps at all.
void addSplits(const Steps &steps, const AttentionSchedule &schedule, std::int64_t tiles,
               std::int64_t useful, LaunchPlan &launch) {
  const std::int64_t splits = schedule.split.kv, unrolled = unrolledSteps(schedule);
  const std::int64_t nonEmpty = std::min(splits, steps.total);
  const std::int64_t single = std::max<std::int64_t>(0, nonEmpty - 2); // from here on one by one
  const std::int64_t longer = std::min(steps.total % splits, single);
  const auto add = [&](std::int64_t first, std::int64_t count) {
    if (count > 0) {
      const StepRange range = stepsOfSplit(steps.total, schedule.split.kv, first);
      addKind(launch, tiles * count, tripsOf(steps, range, unrolled),
              static_cast<std::int32_t>(useful));
    }
  };
  add(0, longer);
  add(longer, single - longer);
  for (std::int64_t split = single; split < nonEmpty; ++split) {
    add(split, 1);
  }
  add(nonEmpty, splits - nonEmpty);
}

/// Row tiles differ under a causal mask, by a step at most. Beyond `mostTiles` of them the middle
/// ones count as the first.
void addKinds(const Attention &op, const AttentionSchedule &schedule, const Grid &grid,
              LaunchPlan &launch) {
  constexpr std::int64_t mostTiles = 16;
  const std::int64_t rows = schedule.tiling.rows, rest = op.packedRows() % rows;
  const std::int64_t full = op.packedRows() / rows;
  const std::int64_t apart = op.mask == MaskKind::causal ? std::min(full, mostTiles) : 0;
  if (full > apart) {
    addSplits(stepsOf(op, schedule, 0), schedule, (full - apart) * grid.heads, rows, launch);
  }
  for (std::int64_t tile = full - apart; tile < full; ++tile) {
    addSplits(stepsOf(op, schedule, tile), schedule, grid.heads, rows, launch);
  }
  if (rest > 0) {
    addSplits(stepsOf(op, schedule, full), schedule, grid.heads, rest, launch);
  }
}

/// `count` workgroups that have `steps` in all: up to three kinds with their exact sums. Which of
/// them has more than another is not kept but of the longest tile: tiles of a triangle are handed
/// out longest first.
void addBalanced(LaunchPlan &launch, std::int64_t count, const VisibleSteps &steps,
                 std::int64_t usefulM) {
  if (count == 0) {
    return;
  }
  const std::int64_t masked = steps.visited - steps.whole;
  const std::int64_t moreWhole = steps.whole % count, moreMasked = masked % count;
  // A step more of the one to those without one of the other, as far as that goes.
  const std::int64_t both = std::max<std::int64_t>(0, moreWhole + moreMasked - count);
  const auto add = [&](std::int64_t of, bool whole, bool diagonal) {
    if (of > 0) {
      addKind(launch, of,
              {steps.whole / count + (whole ? 1 : 0), masked / count + (diagonal ? 1 : 0)},
              narrow(usefulM));
    }
  };
  add(both, true, true);
  add(moreWhole - both, true, false);
  add(moreMasked - both, false, true);
  add(count - moreWhole - moreMasked + both, false, false);
}

struct CountedTiles {
  std::int64_t count = 0, rows = 0;
  VisibleSteps steps;
};

/// The sequences' last, partial tiles: of two heights whose rows add up.
void addEdges(LaunchPlan &launch, const CountedTiles &edges, std::int64_t splits) {
  const std::int64_t higher = edges.count > 0 ? edges.rows % edges.count : 0;
  const std::int64_t height = edges.count > 0 ? edges.rows / edges.count : 0;
  const VisibleSteps ofHigher = higher > 0
                                    ? VisibleSteps{edges.steps.visited * higher / edges.count,
                                                   edges.steps.whole * higher / edges.count}
                                    : VisibleSteps();
  VisibleSteps rest = edges.steps;
  rest += ofHigher * -1;
  addBalanced(launch, higher * splits, ofHigher, height + 1);
  addBalanced(launch, (edges.count - higher) * splits, rest, height);
}

/// Tiles of all sequences: the longest, the other full ones together, the edges together.
void addVisible(const Attention &op, const AttentionSchedule &schedule, LaunchPlan &launch) {
  const std::int64_t rows = schedule.tiling.rows, columns = schedule.stepColumns();
  CountedTiles full, longest, edges;
  for (const SequenceLength &length : op.lengths) {
    const std::int64_t packed = length.queries * op.group(), times = length.count * op.hkv;
    if (packed >= rows) {
      const TileSteps tiles = stepsOfTiles(op, length, rows, columns, packed / rows);
      full.count += times * (packed / rows);
      full.steps += tiles.sum * times;
      if (longest.count == 0 || tiles.longest.visited * longest.count > longest.steps.visited) {
        longest = {times, 0, tiles.longest * times};
      }
    }
    if (packed % rows > 0) {
      edges.count += times;
      edges.rows += times * (packed % rows);
      edges.steps += stepsOfTile(op, length, rows, columns, packed / rows) * times;
    }
  }
  full.count -= longest.count;
  full.steps += longest.steps * -1;
  addBalanced(launch, longest.count * schedule.split.kv, longest.steps, rows);
  addBalanced(launch, full.count * schedule.split.kv, full.steps, rows);
  addEdges(launch, edges, schedule.split.kv);
}

/// Bytes of k or v that any query sees, of all sequences and heads.
std::int64_t visibleBytes(const Attention &op, const KvTile &tile) {
  std::int64_t columns = 0;
  for (const SequenceLength &length : op.lengths) {
    const ColumnRange first = visibleColumns(op, length, 0);
    const ColumnRange last = visibleColumns(op, length, length.queries - 1);
    columns += length.count * std::max<std::int64_t>(1, last.end - first.begin);
  }
  return columns * op.hkv * tile.layout.rowBytes;
}

/// Packed rows of all sequences and heads.
std::int64_t queryRows(const Attention &op) {
  std::int64_t queries = 0;
  for (const SequenceLength &length : op.lengths) {
    queries += length.count * length.queries;
  }
  return queries * op.hq;
}

/// The logarithms of the sums, f32, of `rows` rows.
void addLse(const Attention &op, std::int32_t rows, LaunchPlan &launch) {
  if (!op.lse) {
    return;
  }
  TileTraffic lse;
  lse.operand = TileOperand::lse;
  lse.write = true;
  lse.rows = rows;
  lse.bytesPerRow = lse.pitchBytes = lse.vectorBytes = bitWidth(ElementType::f32) / 8;
  lse.perTrip = false;
  lse.byTileM = lse.byTileN = true;
  launch.traffic.push_back(lse);
}

void addTraffic(const Attention &op, const AttentionSchedule &schedule, LaunchPlan &launch) {
  const std::int64_t elementBytes = std::max(1, bitWidth(op.type) / 8);
  TileTraffic query;
  query.operand = TileOperand::q;
  query.rows = schedule.tiling.rows;
  query.bytesPerRow = query.pitchBytes = op.d * elementBytes;
  query.vectorBytes = 16;
  query.perTrip = false;
  query.byTileM = query.byTileN = true; // a head's; its splits share it
  query.shareN = schedule.split.kv;
  if (!op.varlenFile.empty()) {
    query.launchBytes = queryRows(op) * query.bytesPerRow;
  }
  launch.traffic.push_back(query);
  for (const TileOperand operand : {TileOperand::k, TileOperand::v}) {
    if (operand == TileOperand::v && op.latent()) {
      continue; // part of k
    }
    const KvTile tile = kvTile(op, schedule, operand);
    const std::int64_t heads = op.layout == AttentionLayout::bshd ? op.hkv : 1;
    TileTraffic traffic;
    traffic.operand = operand;
    traffic.rows = schedule.stepColumns();
    traffic.bytesPerRow = tile.layout.rowBytes;
    traffic.pitchBytes = heads * tile.layout.rowBytes;
    traffic.vectorBytes = tile.vectorBytes;
    traffic.byTileN = true;
    traffic.alongTrips = true;
    if (!walksWholeTrips(op, schedule)) {
      traffic.launchBytes = visibleBytes(op, tile);
    }
    launch.traffic.push_back(traffic);
  }
  const bool partial = schedule.split.kv > 1;
  TileTraffic result;
  result.operand = TileOperand::o;
  result.write = true;
  result.rows = schedule.tiling.rows;
  result.bytesPerRow = result.pitchBytes =
      op.dv * (partial ? 4 : std::max(1, bitWidth(op.outType) / 8));
  result.vectorBytes = partial ? 16 : 8;
  result.perTrip = false;
  result.byTileM = result.byTileN = true;
  launch.traffic.push_back(result);
  if (!partial) {
    addLse(op, schedule.tiling.rows, launch);
  }
}

void addLds(const Attention &op, const AttentionSchedule &schedule, LaunchPlan &launch) {
  const AttentionLds lds = attentionLds(op, schedule);
  const auto add = [&](TileOperand operand, std::int64_t bytes, int stages) {
    if (stages > 0 && bytes > 0) {
      const KvTile tile =
          kvTile(op, schedule, operand == TileOperand::o ? TileOperand::v : operand);
      launch.lds.push_back({operand, narrow(bytes), static_cast<std::int8_t>(stages),
                            tile.layout.rowBytes, tile.layout.layout == LdsLayout::swizzle});
    }
  };
  add(TileOperand::k, lds.k, lds.kStages);
  add(TileOperand::v, lds.v, lds.vStages);
  add(TileOperand::o, lds.results, 1);
  launch.ldsBytes = narrow(lds.bytes());
}

/// Query rows and scores stay in registers; pieces of k and v in flight; fragments of one step of k
/// and one slice of v. Of 110 random kernels compiled VGPRs are 24 below on average, deviation 12,
/// at most 6 above; none spills. [compiled VGPRs, LLVM 22.1.8]
RegisterUse registerUse(const Attention &op, const AttentionSchedule &schedule) {
  constexpr int base = 28; ///< rows, limits, maxima, lane offsets that many pieces share
  const KvTile k = kvTile(op, schedule, TileOperand::k), v = kvTile(op, schedule, TileOperand::v);
  const auto &tiling = schedule.tiling;
  const int perFragment = ceilDiv(tiling.mfmaM * tiling.mfmaN, 64);
  const int queries = ceilDiv(schedule.waveRows(), tiling.mfmaN);
  const int operand = k.laneElements * bitWidth(productTypes(op).keys) / 32; // of a fragment
  const int steps = std::max(1, schedule.pipeline.prefetch);
  const auto staged = [&](const KvTile &tile) {
    return tile.layout.path == OperandPath::direct
               ? 0
               : steps * tile.pieces * std::max(1, tile.vectorBytes / 4);
  };
  const int scores = queries * k.fragments * perFragment;
  RegisterUse use;
  if (schedule.rowWaves > 1) {
    // Of k and v on their way from LDS: as much as 12 fragments of 16 bits. [A]
    const int readAhead = 48 / operand;
    use.accumulators = queries * v.fragments * perFragment;
    use.accumulatorsInAgpr = resultsInAgpr(op, schedule);
    use.fragments = (queries * k.slices + readAhead) * operand + 2 * scores;
    use.staging = staged(k) + staged(v);
    use.addresses = base + 2 * queries;
    return use;
  }
  use.accumulators = queries * v.fragments * perFragment + scores + scores / 2;
  use.fragments = queries * k.slices * operand +
                  std::max(k.inLds() ? k.fragments * k.slices * operand : 0, v.fragments * operand);
  use.staging = staged(k) + staged(v);
  use.addresses = base + std::min(16, k.inLds() ? k.pieces : k.fragments) + std::min(16, v.pieces) +
                  2 * queries;
  return use;
}

LaunchPlan mainLaunch(const Attention &op, const AttentionSchedule &schedule, const Grid &grid,
                      const Target &target) {
  LaunchPlan launch;
  launch.role = "main";
  launch.waves = schedule.waves;
  launch.workgroups = grid.tiles * grid.splits;
  launch.tileM = schedule.tiling.rows;
  launch.tileN = narrow(op.dv);
  // Row tiles fastest: neighbours share k and v.
  launch.mapping = {grid.rowTiles, grid.splits * grid.heads, 1, schedule.xcdRemap ? target.xcds : 1,
                    narrow(grid.rowTiles)};
  addTraffic(op, schedule, launch);
  addLds(op, schedule, launch);
  launch.registers = registerUse(op, schedule);
  launch.occupancy = occupancy(target, launch.registers.vgpr(), launch.registers.agpr(),
                               launch.ldsBytes, launch.waves);
  const auto add = [&](RegionKind kind) {
    launch.regions.push_back({kind, 0, loopKey(schedule, kind)});
  };
  add(RegionKind::prologue);
  add(RegionKind::mainLoop);
  add(RegionKind::diagonal);
  if (schedule.columnWaves() > 1) {
    add(RegionKind::reduction);
  }
  add(RegionKind::epilogue);
  if (walksWholeTrips(op, schedule)) {
    addKinds(op, schedule, grid, launch);
  } else {
    addVisible(op, schedule, launch);
  }
  return launch;
}

LaunchPlan combineLaunch(const Attention &op, const AttentionSchedule &schedule, const Grid &grid,
                         const Target &target) {
  LaunchPlan launch;
  launch.role = "combine";
  launch.waves = combineRows;
  launch.workgroups = ceilDiv<std::int64_t>(grid.rows, combineRows);
  launch.tileM = combineRows;
  launch.tileN = narrow(op.dv);
  launch.mapping = {launch.workgroups, 1, 1, 1, 0};
  TileTraffic partial;
  partial.operand = TileOperand::p;
  partial.rows = combineRows * schedule.split.kv;
  partial.bytesPerRow = partial.pitchBytes = op.dv * 4 + 8;
  partial.vectorBytes = narrow(std::max<std::int64_t>(4, op.dv / target.waveSize * 4));
  partial.perTrip = false;
  partial.byTileM = true;
  TileTraffic result;
  result.operand = TileOperand::o;
  result.write = true;
  result.rows = combineRows;
  result.bytesPerRow = result.pitchBytes = op.dv * std::max(1, bitWidth(op.outType) / 8);
  result.vectorBytes = partial.vectorBytes / 2;
  result.perTrip = false;
  result.byTileM = true;
  launch.traffic = {partial, result};
  addLse(op, combineRows, launch);
  const int elements = static_cast<int>(std::min<std::int64_t>(op.dv / target.waveSize, 64));
  const int chunk = combineChunk(schedule.split.kv);
  launch.registers.accumulators = elements + 2;
  launch.registers.staging = chunk * (elements + 2);
  launch.registers.addresses = 16;
  launch.occupancy = occupancy(target, launch.registers.vgpr(), 0, 0, launch.waves);
  const LoopKey key = combineBit | LoopKeyPacker().add(schedule.split.kv, 9).key();
  launch.regions = {{RegionKind::prologue, 0, key | LoopKey(1) << 16},
                    {RegionKind::mainLoop, 0, key | LoopKey(2) << 16},
                    {RegionKind::epilogue, 0, key | LoopKey(3) << 16}};
  const Inline<std::int32_t, 8> trips{1, schedule.split.kv / chunk, 1};
  const std::int64_t rest = grid.rows % combineRows;
  if (grid.rows / combineRows > 0) {
    launch.kinds.push_back({"interior", grid.rows / combineRows, trips, combineRows, launch.tileN});
  }
  if (rest > 0) {
    launch.kinds.push_back({"edge", 1, trips, static_cast<std::int32_t>(rest), launch.tileN});
  }
  return launch;
}

KernelPlan planAttention(const Problem &problem, const Schedule &any, const Target &target) {
  const Attention &op = problem.attention();
  const auto &schedule = std::get<AttentionSchedule>(any);
  const Grid grid = gridOf(op, schedule);
  KernelPlan plan;
  addBuffers(problem, schedule, grid, plan);
  plan.launches.push_back(mainLaunch(op, schedule, grid, target));
  if (schedule.split.kv > 1) {
    plan.launches.push_back(combineLaunch(op, schedule, grid, target));
  }
  return plan;
}

UnfinishedLoop loopOf(const Problem &problem, const Schedule &schedule, const Target &target,
                      const Region &region) {
  return attentionLoop(problem.attention(), std::get<AttentionSchedule>(schedule), target,
                       region.kind, (region.loop & combineBit) != 0);
}

} // namespace

const Planner &attentionPlanner() {
  static const Planner planner{planAttention, loopOf, attentionInterface, attentionSizes,
                               attentionStem};
  return planner;
}

} // namespace kw
