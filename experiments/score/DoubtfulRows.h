// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of published tables whose time can't be theirs, by the tables alone: no fit learns from
// them. They count wherever errors are reported, which says how much of the error is theirs.
#pragma once

#include "experiments/score/ScoreRows.h"

#include <span>
#include <vector>

namespace kw {

/// Sets ScoredRow::doubtful of fused MoE rows
/// - whose very time, five digits or more of it, is filed under several token counts of a layer;
/// - whose time is off the sum of its two kernels' times by more than 15%, or all told as that of
///   the first: it is of more than the kernels (sorting, gaps), or was another kernel's.
void markDoubtful(std::span<ScoredRow> rows, const std::vector<TextTable> &tables);

/// How far doubtful rows can be told at all.
struct DoubtfulErrors {
  std::size_t rows = 0;
  double mape = 0; ///< of the predictions
  /// Of the estimate (without residual) times a factor for each time of a layer, the best there is:
  /// what is left where one time stands for several token counts.
  double bestFactorMape = 0;
};
/// Of those rows that count and are marked.
DoubtfulErrors doubtfulErrors(std::span<const ScoredRow> rows);

} // namespace kw
