// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/calibrate/LearningRows.h"

#include "costmodel/foreign/ForeignModel.h"
#include "experiments/score/DoubtfulRows.h"

#include <cmath>

namespace kw {
namespace {

/// The row of one of the two kernels of a fused operator; nullopt: its time isn't told.
std::optional<ScoredRow> stageRow(const ScoredRow &both, int stage, const TextTable &table,
                                  ForeignModel &model) {
  const auto column = table.column(stage == 1 ? "us1" : "us2");
  const auto us = column ? numberIn(table.cells(both.row.number - 1)[*column]) : std::nullopt;
  if (!us || *us <= 0) {
    return std::nullopt;
  }
  ScoredRow one = both;
  one.row.moe.stage = stage;
  one.row.kernels = {both.row.kernels[stage - 1]};
  one.time.us = us;
  one.modelCase.reset();
  if (auto modelCase = model.estimate(one.row)) {
    one.modelCase = std::move(*modelCase);
  }
  return one;
}

} // namespace

Expected<std::vector<ScoredRow>> learningRows(const std::vector<TextTable> &tables,
                                              const Calibration &calibration) {
  auto rows = scoreRows(tables, calibration);
  if (!rows) {
    return rows;
  }
  markDoubtful(*rows, tables);
  ForeignModel model({}, calibration);
  std::vector<ScoredRow> stages;
  for (const ScoredRow &row : *rows) {
    const bool twoKernels = row.row.kind == RowKind::moe && row.row.moe.stage == 0 &&
                            !row.row.moe.oneStage && row.row.kernels.size() == 2;
    for (int stage = 1; twoKernels && stage <= 2; ++stage) {
      if (auto one = stageRow(row, stage, tables[row.file], model)) {
        stages.push_back(std::move(*one));
      }
    }
  }
  rows->insert(rows->end(), std::make_move_iterator(stages.begin()),
               std::make_move_iterator(stages.end()));
  return rows;
}

} // namespace kw
