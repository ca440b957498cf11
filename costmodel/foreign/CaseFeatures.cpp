// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/foreign/CaseFeatures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace kw {
namespace {

// The order of the values below.
constexpr std::array<std::string_view, 63> names{
    // partFeatures
    "log_rows", "log_n", "log_k", "log_products", "log_flops", "log_bytes", "intensity", "tile_m",
    "tile_n", "tile_k", "waves", "waves_m", "waves_n", "mfma_m", "split_k", "steps", "workgroups",
    "rounds", "last_round_fill", "used_m", "used_n", "used_k", "tiles_m", "tiles_n", "lds_bytes",
    "occupancy", "accumulators", "b_in_registers", "preshuffled", "serial", "persistent",
    "stream_k", "told_tile_k", "told_waves", "told_prefetch", "prefetch", "k_alignment",
    "n_alignment", "experts_per_row", "log_experts", "waves_per_eu", "waves_k", "xcd_swizzle",
    "sorted_rows", "non_temporal", "gate_first", "interleaved_gate", "quantised", "reduction",
    // secondFeatures
    "second_share", "second_tile_m", "second_tile_n", "second_tile_k", "second_rounds",
    "second_split_k", "second_persistent", "second_reduction", "second_non_temporal",
    "second_sorted_rows", "second_xcd_swizzle",
    // attentionFeatures
    "causal", "backward", "head_ratio"};

float log2Of(double value) { return float(std::log2(std::max(value, 1e-9))); }

template <typename T> float told(const std::optional<T> &value) {
  return value ? log2Of(double(*value)) : unknownFeature;
}

/// Largest power of two, up to 4096, that divides the size, as log2.
float alignment(std::int64_t size) {
  constexpr std::int64_t most = 4096;
  return log2Of(double(std::gcd(size, most)));
}

float flag(bool value) { return value ? 1.0f : 0.0f; }

float reductionOf(const TileKernel &kernel) {
  return kernel.reduction ? float(static_cast<int>(*kernel.reduction)) : unknownFeature;
}

double roundsOf(const CasePart &part, const Target &target) {
  const double tilesN = std::ceil(double(part.problem.n) / part.kernel.tileN);
  return rowTiles(part.problem, part.kernel.tileM).tiles * tilesN * part.kernel.splitK / target.cus;
}

std::vector<float> partFeatures(const CasePart &part, const Target &target) {
  const auto &[problem, kernel, known, us] = part;
  const TileLaunch launch = tileLaunch(problem, kernel, target);
  const ProblemFacts facts = problemFacts(problem);
  const RowTiles rows = rowTiles(problem, kernel.tileM);
  const double tilesN = std::ceil(double(problem.n) / kernel.tileN);
  const double steps = std::ceil(double(problem.k) / kernel.tileK / kernel.splitK);
  const double rounds = roundsOf(part, target);
  return {
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
      log2Of(rounds * target.cus),
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
      problem.grouped ? log2Of(problem.experts) : unknownFeature,
      told(known.wavesPerEu),
      told(known.wavesK),
      told(known.xcdSwizzle),
      told(known.sortedRows),
      flag(known.nonTemporal),
      flag(known.gateFirst),
      flag(known.interleavedGate),
      flag(known.quantised),
      reductionOf(known),
  };
}

std::vector<float> secondFeatures(const CasePart &first, const CasePart &second,
                                  const Target &target) {
  return {
      float(second.analyticUs / (first.analyticUs + second.analyticUs)),
      log2Of(second.kernel.tileM),
      log2Of(second.kernel.tileN),
      log2Of(second.kernel.tileK),
      log2Of(roundsOf(second, target)),
      log2Of(second.kernel.splitK),
      flag(second.kernel.persistent),
      reductionOf(second.told),
      flag(second.told.nonTemporal),
      told(second.told.sortedRows),
      told(second.told.xcdSwizzle),
  };
}

} // namespace

std::span<const std::string_view> featureNames() { return names; }

std::vector<float> caseFeatures(const CasePart &first, const CasePart *second,
                                const Target &target) {
  std::vector<float> values = partFeatures(first, target);
  if (second != nullptr) {
    const std::vector<float> more = secondFeatures(first, *second, target);
    values.insert(values.end(), more.begin(), more.end());
  }
  values.resize(names.size(), unknownFeature);
  return values;
}

std::vector<float> attentionFeatures(const AttentionWork &work, const Target &target) {
  const AttentionRow &shape = work.shape;
  const ProblemFacts facts = problemFacts(work);
  std::vector<float> values(names.size(), unknownFeature);
  const auto set = [&](std::string_view name, float value) { values[featureIndex(name)] = value; };
  const double heads = double(shape.batch * shape.queryHeads);
  const double workgroups = heads * std::ceil(double(shape.queries) / attentionTiles()[0].rows);
  set("log_rows", log2Of(double(shape.queries)));
  set("log_n", log2Of(double(shape.keys)));
  set("log_k", log2Of(double(shape.headDim)));
  set("log_products", log2Of(heads));
  set("log_flops", log2Of(facts.flops));
  set("log_bytes", log2Of(facts.compulsoryBytes));
  set("intensity", log2Of(facts.flops / facts.compulsoryBytes));
  set("workgroups", log2Of(workgroups));
  set("rounds", log2Of(workgroups / target.cus));
  set("causal", flag(shape.causal));
  set("backward", flag(work.backward));
  set("head_ratio", log2Of(double(shape.queryHeads) / double(shape.keyHeads)));
  return values;
}

} // namespace kw
