// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/Baselines.h"

#include "experiments/score/OrigamiBaseline.h"

#include <algorithm>
#include <array>

namespace kw {
namespace {

/// Sums over a row's products.
struct Work {
  double flops = 0, bytes = 0;
};

Work workOf(const ScoredRow &row) {
  const Estimate &estimate = row.modelCase->analytic;
  return {estimate.tflops * estimate.timeUs * 1e6, estimate.gbps * estimate.timeUs * 1e3};
}

/// FLOP/s at peak clock by the narrower operand, bytes/s. [datasheet]
struct Peaks {
  double flops = 0, bytes = 0;
};

Peaks peaksOf(const ScoredRow &row) {
  const bool gfx942 = row.row.gfx == "gfx942";
  const std::string &type = row.modelCase->dtype;
  const auto starts = [&](std::string_view text) { return type.starts_with(text); };
  const double wide = gfx942 ? 1307e12 : 2516.6e12;
  const double factor = starts("bf16") || starts("f16")                       ? 1
                        : starts("f32")                                       ? 1.0 / 16
                        : gfx942                                              ? 2
                        : starts("mxfp4") || starts("mxfp6") || starts("fp4") ? 4
                                                                              : 2;
  return {wide * factor, gfx942 ? 5.3e12 : 8e12};
}

std::optional<double> roofline(const ScoredRow &row) {
  const Work work = workOf(row);
  const Peaks peaks = peaksOf(row);
  return 1e6 * std::max(work.flops / peaks.flops, work.bytes / peaks.bytes);
}

struct FittedRow {
  std::string_view type;
  double startUs, compute, bandwidth;
};
/// [fitted: gemm_gfx950 rows of split train, least mean |log(predicted / measured)|, 2026-11-29]
constexpr std::array<FittedRow, 7> fittedRows{{{"bf16", 7, 0.45, 0.70},
                                               {"fp8_row", 6, 0.36, 0.80},
                                               {"fp8_block128", 7, 0.25, 0.25},
                                               {"mxfp8", 10, 0.36, 0.80},
                                               {"mxfp4", 7, 0.40, 0.35},
                                               {"mxfp6", 10, 0.36, 0.20},
                                               {"i8_row", 8, 0.33, 0.70}}};

std::optional<double> fittedRoofline(const ScoredRow &row) {
  const auto *fitted = std::ranges::find(fittedRows, row.modelCase->dtype, &FittedRow::type);
  if (row.row.kind != RowKind::gemm || fitted == fittedRows.end()) {
    return std::nullopt;
  }
  const Work work = workOf(row);
  const Peaks peaks = peaksOf(row);
  return fitted->startUs + 1e6 * std::max(work.flops / (peaks.flops * fitted->compute),
                                          work.bytes / (peaks.bytes * fitted->bandwidth));
}

constexpr std::array<Baseline, 4> table{
    {{"roofline", roofline},
     {"fitted_roofline", fittedRoofline},
     {"origami", origamiStyleUs},
     {"boosting", [](const ScoredRow &row) { return row.boostedUs; }}}};

} // namespace

std::span<const Baseline> baselines() { return table; }

std::vector<ScoredRow> withBaseline(std::span<const ScoredRow> rows, const Baseline &baseline) {
  std::vector<ScoredRow> replaced;
  for (const ScoredRow &row : rows) {
    const auto us = row.modelCase ? baseline.us(row) : std::nullopt;
    if (us) {
      ScoredRow &copy = replaced.emplace_back(row);
      copy.predictedUs = copy.lowUs = copy.highUs = *us;
    }
  }
  return replaced;
}

} // namespace kw
