// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/OrigamiBaseline.h"

#include "costmodel/foreign/TileProblem.h"

#include <algorithm>
#include <cmath>

namespace kw {
namespace {

// Clocks at 2.4 GHz unless said otherwise; all constants [published: costmodel.md 2.2].
constexpr double clockHz = 2.4e9, cus = 256, xcds = 8, pipesOfCu = 4;
constexpr double l2BytesPerClock = 17e12 / clockHz, mallBytesPerClock = 8.53e12 / clockHz,
                 hbmBytesPerClock = 6e12 / clockHz;
constexpr double memoryLatency = 200, perIteration = 500, perTile = 1500, flagPoll = 1900,
                 launch = 9900;
constexpr double l2Floor = 0.75, mallFloor = 0.85; ///< of the hit rates, at few iterations
constexpr double waveLanes = 64;
constexpr double readAccumulator = 0.9; ///< of a lane's register
constexpr double prefetched = 2;        ///< K steps
constexpr double requestBytes = 64, partialBytes = 4;

struct Work {
  double m, n, k, batch, tileM, tileN, tileK, splits, waves;
  double bytesA, bytesB, bytesOut; ///< an element
  double macsPerClock;             ///< of a pipe
};

double ceilOf(double size, double part) { return std::ceil(size / part); }

/// Fraction of a bandwidth that n CUs reach.
double reached(double n) { return std::min(1.0, (-1.3e-5 * n + 7.07e-3) * n + 0.0274); }

/// Share of the bytes that tiles of a window find: all but each distinct row and column once.
double hitRate(double window, double tilesM, double tilesN, const Work &work) {
  const double rows = std::clamp(std::ceil(std::sqrt(window)), 1.0, tilesM);
  const double columns = std::clamp(ceilOf(window, rows), 1.0, tilesN);
  const double a = work.tileM * work.bytesA, b = work.tileN * work.bytesB;
  return std::max(0.0, 1 - (rows * a + columns * b) / (window * (a + b)));
}

double warmed(double hit, double iterations, double least, double slope) {
  const double square = iterations * iterations;
  return hit * std::max(least, square / (square + slope));
}

/// Loads of one K step of all active CUs, by the slowest level.
double memoryStep(const Work &work, double active, double iterations, double tilesM,
                  double tilesN) {
  const auto padded = [](double bytes) { return std::ceil(bytes / requestBytes) * requestBytes; };
  const double bytes = active * (std::min(work.tileM, work.m) * padded(work.tileK * work.bytesA) +
                                 std::min(work.tileN, work.n) * padded(work.tileK * work.bytesB));
  const double tiles = std::max(1.0, active / work.splits);
  const double inL2 =
      warmed(hitRate(std::max(1.0, tiles / xcds), tilesM, tilesN, work), iterations, l2Floor, 4);
  const double inAll = warmed(hitRate(tiles, tilesM, tilesN, work), iterations, mallFloor, 2);
  const double inMall = std::clamp((inAll - inL2) / (1 - inL2), 0.0, 1.0);
  const double beyondL2 = bytes * (1 - inL2);
  return std::max({bytes / l2BytesPerClock, beyondL2 / (mallBytesPerClock * reached(active)),
                   beyondL2 * (1 - inMall) / (hbmBytesPerClock * reached(active)) + memoryLatency});
}

double epilogue(const Work &work, double active) {
  const double elements = work.tileM * work.tileN;
  const double stored = active * elements * work.bytesOut / l2BytesPerClock;
  const double read = elements / (waveLanes * work.waves) * readAccumulator;
  const double partial = active * elements * partialBytes / l2BytesPerClock;
  return read + stored + (work.splits > 1 ? 2 * partial + flagPoll : 0);
}

double clocksOf(const Work &work) {
  const double tilesM = ceilOf(work.m, work.tileM), tilesN = ceilOf(work.n, work.tileN);
  const double workgroups = tilesM * tilesN * work.batch * work.splits;
  const double active = std::min(workgroups, cus);
  const double iterations = std::max(1.0, ceilOf(ceilOf(work.k, work.tileK), work.splits));
  const double compute = work.tileM * work.tileN * work.tileK / (work.macsPerClock * pipesOfCu);
  const double memory = memoryStep(work, active, iterations, tilesM, tilesN);
  const double steady = std::max(0.0, iterations - prefetched);
  const double tile = memory + steady * std::max(memory, compute) +
                      (iterations - steady) * compute + iterations * perIteration +
                      epilogue(work, active) + perTile;
  return tile * ceilOf(workgroups, cus) + launch;
}

/// The feature's size; nullopt: unknown.
std::optional<double> sizeOf(const ModelCase &modelCase, std::string_view name) {
  const float log = modelCase.features[featureIndex(name)];
  return log == log ? std::optional(std::exp2(double(log))) : std::nullopt;
}

} // namespace

std::optional<double> origamiStyleUs(const ScoredRow &row) {
  const auto target = findTarget(row.row.gfx.empty() ? "gfx950" : row.row.gfx);
  const auto problem = gemmProblem(row.row);
  if (row.row.kind != RowKind::gemm || !row.modelCase || !target || !problem ||
      (*target)->name != "gfx950") {
    return std::nullopt;
  }
  const ModelCase &modelCase = *row.modelCase;
  const auto tileM = sizeOf(modelCase, "tile_m"), tileN = sizeOf(modelCase, "tile_n"),
             tileK = sizeOf(modelCase, "tile_k"), splits = sizeOf(modelCase, "split_k"),
             waves = sizeOf(modelCase, "waves");
  if (!tileM || !tileN || !tileK || !splits || !waves) {
    return std::nullopt;
  }
  const double peak = peakFlops(**target, problem->a, problem->b);
  const Work work{problem->rows,
                  double(problem->n),
                  double(problem->k),
                  problem->products,
                  *tileM,
                  *tileN,
                  *tileK,
                  std::max(1.0, *splits),
                  *waves,
                  bitWidth(problem->a) / 8.0,
                  bitWidth(problem->b) / 8.0,
                  bitWidth(problem->out) / 8.0,
                  peak / 2 / clockHz / cus / pipesOfCu};
  return work.macsPerClock > 0 ? std::optional(clocksOf(work) / clockHz * 1e6) : std::nullopt;
}

} // namespace kw
