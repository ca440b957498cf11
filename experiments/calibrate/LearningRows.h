// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a calibration learns from: every row of the tables, and the two kernels of fused operators
// as rows of their own, with a time where the table tells that of both.
#pragma once

#include "experiments/score/ScoreRows.h"

#include <span>
#include <vector>

namespace kw {

/// Rows of the tables in order, then those of single kernels, with the number of the row that they
/// belong to, first kernel first. Each is predicted with `calibration`.
Expected<std::vector<ScoredRow>> learningRows(const std::vector<TextTable> &tables,
                                              const Calibration &calibration);

} // namespace kw
