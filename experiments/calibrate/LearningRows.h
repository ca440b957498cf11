// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a calibration learns from: every row of the tables, and of fused operators that tell a time
// for each of their two kernels also these, as rows of their own.
#pragma once

#include "experiments/score/ScoreRows.h"

#include <span>
#include <vector>

namespace kw {

/// Rows of the tables in order, then those of single kernels. Each is predicted with `calibration`.
Expected<std::vector<ScoredRow>> learningRows(const std::vector<TextTable> &tables,
                                              const Calibration &calibration);

} // namespace kw
