// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/calibrate/LearningRows.h"

#include "experiments/score/DoubtfulRows.h"

#include <array>
#include <optional>

namespace kw {
namespace {

/// Of each kernel, in the order of launch; nullopt: not every one is told.
std::optional<std::array<double, 2>> kernelTimes(const ScoredRow &row, const TextTable &table) {
  std::array<double, 2> times{};
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto column = table.column(i == 0 ? "us1" : "us2");
    const auto us =
        column ? numberIn(table.cells(row.row.number - 1)[*column]) : std::optional<double>();
    if (!us || *us <= 0) { // one alone may be that of both
      return std::nullopt;
    }
    times[i] = *us;
  }
  return times;
}

/// The rows of the two kernels of a fused operator.
void addKernelRows(const ScoredRow &both, const TextTable &table, std::vector<ScoredRow> &rows) {
  const auto times = kernelTimes(both, table);
  for (std::size_t i = 0; i < both.modelCase->parts.size(); ++i) {
    ScoredRow &one = rows.emplace_back(both);
    one.row.moe.stage = static_cast<int>(i) + 1;
    one.row.kernels = {both.row.kernels[i]};
    one.time.us = times ? std::optional((*times)[i]) : std::nullopt;
    one.modelCase = both.modelCase->parts[i];
  }
}

} // namespace

Expected<std::vector<ScoredRow>> learningRows(const std::vector<TextTable> &tables,
                                              const Calibration &calibration) {
  auto rows = scoreRows(tables, calibration);
  if (!rows) {
    return rows;
  }
  markDoubtful(*rows, tables);
  std::vector<ScoredRow> kernels;
  for (const ScoredRow &row : *rows) {
    if (row.modelCase && row.modelCase->parts.size() == 2) {
      addKernelRows(row, tables[row.file], kernels);
    }
  }
  rows->insert(rows->end(), std::make_move_iterator(kernels.begin()),
               std::make_move_iterator(kernels.end()));
  return rows;
}

} // namespace kw
