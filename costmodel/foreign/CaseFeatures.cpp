// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/foreign/CaseFeatures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace kw {
namespace {

// The order of tileFeatures' values.
constexpr std::array<std::string_view, 39> names{
    "log_rows",   "log_n",        "log_k",          "log_products",    "log_flops",
    "log_bytes",  "intensity",    "tile_m",         "tile_n",          "tile_k",
    "waves",      "waves_m",      "waves_n",        "mfma_m",          "split_k",
    "steps",      "workgroups",   "rounds",         "last_round_fill", "used_m",
    "used_n",     "used_k",       "tiles_m",        "tiles_n",         "lds_bytes",
    "occupancy",  "accumulators", "b_in_registers", "preshuffled",     "serial",
    "persistent", "stream_k",     "told_tile_k",    "told_waves",      "told_prefetch",
    "prefetch",   "k_alignment",  "n_alignment",    "experts_per_row",
};

float log2Of(double value) { return float(std::log2(std::max(value, 1e-9))); }

template <typename T> float told(const std::optional<T> &value) {
  return value ? log2Of(double(*value)) : unknownFeature;
}

/// Largest power of two, up to 4096, that divides the size, as log2.
float alignment(std::int64_t size) {
  constexpr std::int64_t most = 4096;
  return log2Of(double(std::gcd(size, most)));
}

} // namespace

std::span<const std::string_view> featureNames() { return names; }

std::vector<float> tileFeatures(const TileProblem &problem, const SetTileKernel &kernel,
                                const TileKernel &known, const Target &target) {
  const TileLaunch launch = tileLaunch(problem, kernel, target);
  const ProblemFacts facts = problemFacts(problem);
  const RowTiles rows = rowTiles(problem, kernel.tileM);
  const double tilesN = std::ceil(double(problem.n) / kernel.tileN);
  const double steps = std::ceil(double(problem.k) / kernel.tileK / kernel.splitK);
  const double workgroups = rows.tiles * tilesN * kernel.splitK, rounds = workgroups / target.cus;
  const auto flag = [](bool value) { return value ? 1.0f : 0.0f; };
  std::vector<float> values{
      log2Of(problem.rows),
      log2Of(double(problem.n)),
      log2Of(double(problem.k)),
      log2Of(problem.products),
      log2Of(facts.flops),
      log2Of(facts.compulsoryBytes),
      log2Of(facts.flops / facts.compulsoryBytes),
      log2Of(kernel.tileM),
      log2Of(kernel.tileN),
      log2Of(kernel.tileK),
      log2Of(kernel.waves()),
      told(known.wavesM),
      told(known.wavesN),
      told(known.mfmaM),
      log2Of(kernel.splitK),
      log2Of(steps),
      log2Of(workgroups),
      log2Of(rounds),
      float(rounds / std::ceil(rounds)),
      float(rows.useful / kernel.tileM),
      float(double(problem.n) / (tilesN * kernel.tileN)),
      float(double(problem.k) / (steps * kernel.splitK * kernel.tileK)),
      log2Of(rows.tiles),
      log2Of(tilesN),
      log2Of(launch.plan.ldsBytes),
      float(launch.plan.occupancy),
      log2Of(launch.plan.registers.accumulators),
      flag(kernel.bInRegisters),
      flag(problem.preshuffled),
      flag(kernel.pipeline == TilePipeline::serial),
      flag(kernel.persistent),
      flag(known.streamK),
      told(known.tileK),
      told(known.waves),
      told(known.prefetch),
      float(kernel.prefetch),
      alignment(problem.k),
      alignment(problem.n),
      problem.grouped ? log2Of(problem.experts / problem.routed) : unknownFeature,
  };
  values.resize(names.size(), unknownFeature);
  return values;
}

} // namespace kw
