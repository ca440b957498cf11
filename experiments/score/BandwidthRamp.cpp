// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/BandwidthRamp.h"

#include "experiments/score/Metrics.h"

#include <array>
#include <map>
#include <tuple>

namespace kw {
namespace {

constexpr std::int64_t mostRows = 16;
constexpr std::array<std::string_view, 3> types{"bf16", "fp8_row", "mxfp4"};
constexpr std::array<double, 9> edgesMb{0, 2, 5, 10, 20, 50, 100, 250, 1e9};

/// Of each shape the row that took the least time; the first of equal ones.
std::vector<const ScoredRow *> bestRows(std::span<const ScoredRow> rows, std::string_view type) {
  using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::string>;
  std::map<Shape, const ScoredRow *> best;
  for (const ScoredRow &row : rows) {
    const GemmRow &gemm = row.row.gemm;
    if (!row.counts() || row.row.kind != RowKind::gemm || gemm.m > mostRows ||
        row.modelCase->dtype != type) {
      continue;
    }
    const ScoredRow *&least = best[{gemm.batch, gemm.m, gemm.n, gemm.k, row.row.typeOut}];
    if (least == nullptr || *row.time.us < *least->time.us) {
      least = &row;
    }
  }
  std::vector<const ScoredRow *> found;
  for (const auto &[shape, row] : best) {
    found.push_back(row);
  }
  return found;
}

double compulsoryMb(const ScoredRow &row) {
  return row.modelCase->analytic.gbps * row.modelCase->analytic.timeUs * 1e-3;
}

} // namespace

std::vector<RampCell> bandwidthRamp(std::span<const ScoredRow> rows) {
  std::vector<RampCell> cells;
  for (const std::string_view type : types) {
    const auto best = bestRows(rows, type);
    for (std::size_t i = 0; i + 1 < edgesMb.size(); ++i) {
      std::vector<double> measured, predicted;
      for (const ScoredRow *row : best) {
        const double mb = compulsoryMb(*row);
        if (mb >= edgesMb[i] && mb < edgesMb[i + 1]) {
          measured.push_back(mb * 1e3 / *row->time.us);
          predicted.push_back(mb * 1e3 / row->predictedUs);
        }
      }
      if (!measured.empty()) {
        cells.push_back({std::string(type), edgesMb[i], edgesMb[i + 1], measured.size(),
                         quantile(measured, 0.5), quantile(predicted, 0.5)});
      }
    }
  }
  return cells;
}

} // namespace kw
