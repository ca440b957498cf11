// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Predicts every row of published tables, then, and only then, reads their times. The two steps are
// two functions: `predictRows` has no access to a time.
#pragma once

#include "costmodel/Combine.h"
#include "costmodel/Features.h"
#include "costmodel/foreign/MeasuredRows.h"
#include "costmodel/foreign/MeasuredTimes.h"

#include <optional>
#include <string>
#include <vector>

namespace kw {

struct ScoredRow {
  std::size_t file = 0; ///< index of the table
  MeasuredRow row;
  std::optional<ModelCase> modelCase; ///< none: not modelled, `refusal` says why
  std::string refusal;
  double predictedUs = 0, lowUs = 0, highUs = 0;

  MeasuredTime time;     ///< filled in by judgeRows
  bool doubtful = false; ///< no fit learns from it (DoubtfulRows.h, which sets it)
  /// What gradient boosting without a model says, where a cross-validation asked it.
  std::optional<double> boostedUs;
  /// "ok", "flagged" (predicted but not counted), "no time", or why not modelled.
  std::string status() const;
  bool counts() const { return modelCase && time.us && time.flags.empty(); }
  double error() const { return predictedUs / *time.us - 1; } ///< rows that count
  /// Rows of the first operand: m, tokens, queries.
  std::int64_t m() const;
};

/// `without`: terms that are left out (ablation).
std::vector<ScoredRow> predictRows(const std::vector<std::vector<MeasuredRow>> &files,
                                   const Calibration &calibration, TermSet without = {});
/// Puts the times beside the predictions.
void judgeRows(const std::vector<TextTable> &tables, std::vector<ScoredRow> &rows);

/// Reads the tables; the error names the file.
Expected<std::vector<TextTable>> readTables(const std::vector<std::string> &files);
/// Both steps.
Expected<std::vector<ScoredRow>> scoreRows(const std::vector<TextTable> &tables,
                                           const Calibration &calibration, TermSet without = {});

/// "<=64", "65-512", "513-2047", ">=2048"
std::string bucketOf(std::int64_t m);

} // namespace kw
