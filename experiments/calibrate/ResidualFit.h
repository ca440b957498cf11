// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the script that fits the residual (costmodel/calibration/fit.py; it travels inside the
// program) in a Python that has numpy, pandas and lightgbm. The only place that needs Python.
#pragma once

#include "experiments/score/ScoreRows.h"
#include "experiments/support/Json.h"

#include <span>
#include <string>
#include <vector>

namespace kw {

/// The object `families` of a calibration file. `python`: program name or path.
Expected<Json> fitResiduals(std::span<const ScoredRow> rows, std::span<const TextTable> tables,
                            const std::string &python);

/// Puts the prediction of a fit that hasn't seen a row's group in place of each row's prediction.
/// With `leftOut`, "dtype=mxfp4" or "gfx=gfx950": only of such rows, by a fit that has seen none of
/// them. Rows that got no such prediction are dropped.
Expected<void> crossValidate(std::vector<ScoredRow> &rows, std::span<const TextTable> tables,
                             const std::string &python, const std::string &leftOut);

} // namespace kw
