// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/foreign/TileChoices.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace kw {
namespace {

// ---- Best ----

struct Tile {
  int m = 0, n = 0;
};
/// What libraries have for shapes from decode to prefill.
constexpr std::array<Tile, 10> pickedTiles{{{16, 32},
                                            {16, 64},
                                            {32, 64},
                                            {64, 64},
                                            {64, 128},
                                            {128, 64},
                                            {128, 128},
                                            {128, 256},
                                            {256, 128},
                                            {256, 256}}};
constexpr std::array<int, 7> splits{1, 2, 3, 4, 8, 16, 32};

/// Of the ways in which the waves divide the tile the one that reads least from LDS.
void divideTile(int waves, bool bInRegisters, SetTileKernel &kernel) {
  double least = 1e30;
  for (int m = 1; m <= waves; ++m) {
    const int n = waves / m;
    const bool divides = m * n == waves && kernel.tileM % (m * kernel.mfmaM) == 0 &&
                         kernel.tileN % (n * kernel.mfmaM) == 0;
    const double read = double(kernel.tileM) / m + (bInRegisters ? 0.0 : double(kernel.tileN) / n);
    if (divides && read < least) {
      least = read;
      kernel.wavesM = m;
      kernel.wavesN = n;
    }
  }
  if (least == 1e30) { // more waves than fragments: the rest share the K step
    kernel.wavesM = std::max(1, std::min(waves, kernel.tileM / kernel.mfmaM));
    kernel.wavesN = std::max(1, std::min(waves / kernel.wavesM, kernel.tileN / kernel.mfmaM));
    kernel.wavesK = std::max(1, waves / (kernel.wavesM * kernel.wavesN));
  }
}

std::vector<Tile> tilesOf(const TileKernel &kernel, const TileProblem &problem) {
  if (kernel.tileM && kernel.tileN) {
    return {{*kernel.tileM, *kernel.tileN}};
  }
  if (kernel.tileM) {
    return {{*kernel.tileM, 64}, {*kernel.tileM, 128}, {*kernel.tileM, 256}};
  }
  std::vector<Tile> tiles;
  for (const Tile &tile : pickedTiles) {
    if (tile.m <= 16 || tile.m < 2 * problem.rows) { // not mostly padding
      tiles.push_back(tile);
    }
  }
  return tiles;
}

/// Splits of a grid that follows the number of CUs: up to two pieces a CU.
std::vector<int> splitsOf(const TileKernel &kernel, const TileProblem &problem, const Tile &tile,
                          int tileK, const Target &target) {
  if (kernel.splitK) {
    return {std::max(1, *kernel.splitK)};
  }
  if (!kernel.streamK && !kernel.picked) {
    return {1};
  }
  const double tiles = rowTiles(problem, tile.m).tiles * std::ceil(double(problem.n) / tile.n);
  std::vector<int> all;
  for (const int split : splits) {
    if (split == 1 || (tiles * split <= 2 * target.cus && split * tileK <= problem.k)) {
      all.push_back(split);
    }
  }
  return all;
}

// ---- Averaged ----

int plausibleMfma(const TileKernel &kernel, const Tile &tile) {
  return kernel.mfmaM.value_or(tile.m % 32 == 0 && tile.n % 32 == 0 && tile.m >= 128 ? 32 : 16);
}

std::vector<int> tileKs(const TileKernel &kernel, const TileProblem &problem) {
  if (kernel.tileK) {
    return {*kernel.tileK};
  }
  const int bits = bitWidth(problem.a);
  return bits >= 16 ? std::vector{64, 128} : bits == 8 ? std::vector{128, 256} : std::vector{256};
}

std::vector<int> prefetches(const TileKernel &kernel) {
  return kernel.prefetch ? std::vector{std::max(1, *kernel.prefetch)} : std::vector{2, 3};
}

std::vector<int> residents(const TileKernel &kernel) {
  return kernel.workgroupsPerCu ? std::vector{*kernel.workgroupsPerCu}
         : kernel.fewResident   ? std::vector{1, 2}
                                : std::vector{0};
}

SetTileKernel setKernel(const TileKernel &kernel, const Tile &tile, int tileK, int split,
                        int prefetch, int resident, const TileProblem &problem,
                        const Target &target) {
  SetTileKernel set;
  set.tileM = tile.m;
  set.tileN = tile.n;
  set.tileK = tileK;
  set.mfmaM = plausibleMfma(kernel, tile);
  set.mfmaK = kernel.mfmaK.value_or(0);
  set.operandBytes = kernel.operandBytes.value_or(0);
  set.bInRegisters = kernel.bInRegisters.value_or(problem.preshuffled);
  set.direct = kernel.direct.value_or(false);
  set.pipeline = kernel.pipeline.value_or(TilePipeline::overlapped);
  set.prefetch = prefetch;
  const std::int64_t stage =
      std::int64_t(set.tileM) * tileK * bitWidth(problem.a) / 8 +
      (set.bInRegisters ? 0 : std::int64_t(set.tileN) * tileK * bitWidth(problem.b) / 8);
  const auto fit = std::max<std::int64_t>(1, target.ldsBytes / std::max<std::int64_t>(1, stage));
  set.stages = int(std::min<std::int64_t>(kernel.stages.value_or(prefetch + 1), fit));
  // More than fit into LDS are asked of the compiler in vain.
  const bool fits = !kernel.wholeSteps || stage * set.stages * resident <= target.ldsBytes;
  set.workgroupsPerCu = fits ? resident : 0;
  set.wholeSteps = kernel.wholeSteps;
  set.splitK = split;
  set.reduction = kernel.reduction.value_or(TileReduction::last);
  set.persistent = kernel.persistent;
  constexpr int usualWaves = 4;
  const int waves = kernel.waves.value_or(usualWaves);
  if (kernel.wavesM && kernel.wavesN) {
    set.wavesM = std::max(1, *kernel.wavesM);
    set.wavesN = std::max(1, *kernel.wavesN);
    set.wavesK = std::max(1, kernel.wavesK.value_or(1));
  } else {
    set.wavesK = std::max(1, kernel.wavesK.value_or(1));
    divideTile(std::max(1, waves / set.wavesK), set.bInRegisters, set);
  }
  if (matrixRate(problem, set, target) == 0) { // no such instruction: whatever there is
    set.mfmaK = set.operandBytes = 0;
    set.mfmaM = matrixRate(problem, set, target) > 0 ? set.mfmaM : 16;
  }
  return set;
}

} // namespace

TileChoices tileChoices(const TileKernel &kernel, const TileProblem &problem,
                        const Target &target) {
  TileChoices choices;
  for (const Tile &tile : tilesOf(kernel, problem)) {
    for (const int split :
         splitsOf(kernel, problem, tile, tileKs(kernel, problem).front(), target)) {
      auto &averaged = choices.alternatives.emplace_back();
      for (const int tileK : tileKs(kernel, problem)) {
        for (const int prefetch : prefetches(kernel)) {
          for (const int resident : residents(kernel)) {
            averaged.push_back(
                setKernel(kernel, tile, tileK, split, prefetch, resident, problem, target));
          }
        }
      }
    }
  }
  return choices;
}

} // namespace kw
