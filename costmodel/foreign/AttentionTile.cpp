// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/foreign/AttentionTile.h"

#include "costmodel/Constants.h"
#include "ir/Occupancy.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kw {
namespace {

constexpr std::array<AttentionTile, 3> plausible{{{128, 64, 4}, {256, 64, 8}, {128, 32, 4}}};

double elementBytes(const AttentionWork &work) { return bitWidth(work.type) / 8.0; }

/// Products of matrices per pair: q k and p v; backward also dv, dp, ds.
double products(const AttentionWork &work) { return work.backward ? 5 : 2; }

/// Vector instructions for 64 pairs beside the exponential: scale, maximum, subtraction, sum,
/// conversion, mask; backward also (dp - delta) p and its conversion.
double vectorPerPair(const AttentionWork &work) {
  return (work.backward ? 7 : 5) + (work.shape.causal ? 0.5 : 0);
}

LoopSummary step(const AttentionWork &work, const AttentionTile &tile, const Target &target) {
  const double d = double(work.shape.headDim);
  const double pairs = double(tile.rows) * tile.columns / tile.waves; // of one wave
  TileProblem problem;
  problem.a = problem.b = work.type;
  const double rate = matrixRate(problem, {}, target);
  const double tileBytes = tile.columns * d * elementBytes(work) * (work.backward ? 4 : 2);
  LoopSummary loop;
  loop.use.matrix = float(products(work) * pairs * d / rate);
  loop.use.valu = float(pairs / target.waveSize *
                        (vectorPerPair(work) * target.valuCycles + target.transcendentalCycles));
  loop.use.lds = float(tileBytes / target.ldsReadBytesPerClock +
                       tileBytes / tile.waves / target.ldsWriteBytesPerClock);
  loop.barriers = 1;
  loop.loads = 1;
  loop.maxAhead = 1;
  loop.loadDistance = 1;
  const double perSimd = double(tile.waves + target.simdsPerCu - 1) / target.simdsPerCu;
  // Softmax stands between the two products; a second wave or the next tile fills half of it.
  loop.recurrence = float(std::floor(perSimd) * (loop.use.matrix + loop.use.valu / 2));
  loop.length = loop.recurrence;
  return loop;
}

TileTraffic traffic(const AttentionWork &work, TileOperand operand, std::int32_t rows, bool write) {
  TileTraffic result;
  result.operand = operand;
  result.write = write;
  result.rows = rows;
  result.bytesPerRow = std::int64_t(double(work.shape.headDim) * elementBytes(work));
  result.vectorBytes = 16;
  result.pitchBytes = result.bytesPerRow;
  return result;
}

} // namespace

std::span<const AttentionTile> attentionTiles() { return plausible; }

double AttentionWork::pairs() const {
  const double q = double(shape.queries), k = double(shape.keys);
  const double heads = double(shape.batch) * double(shape.queryHeads);
  if (!shape.causal) {
    return heads * q * k;
  }
  // Aligned at the bottom right: row i sees k - q + i + 1 columns, at least none.
  return heads * (q <= k ? q * (k - q) + q * (q + 1) / 2 : k * (k + 1) / 2);
}

double AttentionWork::flops() const {
  return 2 * products(*this) * pairs() * double(shape.headDim);
}

ProblemFacts problemFacts(const AttentionWork &work) {
  const AttentionRow &shape = work.shape;
  const double d = double(shape.headDim), b = double(shape.batch);
  const double q = b * double(shape.queryHeads) * double(shape.queries) * d * elementBytes(work);
  const double k = b * double(shape.keyHeads) * double(shape.keys) * d * elementBytes(work);
  ProblemFacts facts;
  facts.flops = work.flops();
  facts.inputBytes = work.backward ? 3 * q + 2 * k : q + 2 * k;
  facts.compulsoryBytes = facts.inputBytes + (work.backward ? q + 2 * k : q);
  facts.matrixType = work.type;
  return facts;
}

TileLaunch attentionLaunch(const AttentionWork &work, const AttentionTile &tile,
                           const Target &target) {
  const AttentionRow &shape = work.shape;
  const std::int64_t heads = shape.batch * shape.queryHeads;
  const std::int64_t tiles = (shape.queries + tile.rows - 1) / tile.rows;
  TileLaunch result;
  LaunchPlan &launch = result.plan;
  launch.role = "main";
  launch.waves = tile.waves;
  launch.workgroups = tiles * heads;
  launch.tileM = tile.rows;
  launch.tileN = int(shape.headDim);
  launch.mapping = {tiles, 1, heads, target.xcds, 0};
  const double pairsOfTile = work.pairs() / (double(tiles) * double(heads) *
                                             std::min<double>(tile.rows, double(shape.queries)));
  // A masked diagonal tile is computed whole: half a tile more.
  const double columns = pairsOfTile + (shape.causal ? tile.rows / 2.0 : 0);
  const auto trips = std::max<std::int64_t>(1, std::llround(columns / tile.columns));
  launch.kinds.push_back({"mean", launch.workgroups, {}, tile.rows, int(shape.headDim)});
  TileTraffic q = traffic(work, TileOperand::q, tile.rows, false);
  q.perTrip = false;
  q.byTileM = true;
  TileTraffic k = traffic(work, TileOperand::k, tile.columns, false), v = k;
  k.alongTrips = v.alongTrips = true;
  v.operand = TileOperand::v;
  TileTraffic o = traffic(work, TileOperand::o, tile.rows * (work.backward ? 3 : 1), true);
  o.perTrip = false;
  o.byTileM = true;
  launch.traffic = {q, k, v, o};
  launch.registers.accumulators = int(double(tile.rows) * (double(shape.headDim) + tile.columns) /
                                      tile.waves / target.waveSize);
  launch.registers.fragments = 64;
  launch.registers.addresses = 40;
  launch.ldsBytes = int(std::min<double>(target.ldsBytes, 4 * tile.columns * double(shape.headDim) *
                                                              elementBytes(work)));
  launch.occupancy = occupancy(target, launch.registers.vgpr(), 0, launch.ldsBytes, launch.waves);
  LoopSummary start, end;
  start.loads = 1;
  start.length = float(target.l2LatencyCycles);
  end.length = float(2 * launch.registers.accumulators * target.valuCycles);
  const auto addRegion = [&](RegionKind kind, std::int64_t count, const LoopSummary &loop) {
    launch.regions.push_back({kind, 0, 0});
    launch.kinds.front().trips.push_back(static_cast<std::int32_t>(count));
    result.loops.push_back(loop);
  };
  addRegion(RegionKind::prologue, 1, start);
  addRegion(RegionKind::mainLoop, trips, step(work, tile, target));
  addRegion(RegionKind::epilogue, 1, end);
  return result;
}

} // namespace kw
