// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What some runs of a new shape are worth: of rows whose group no fit has seen, some are given with
// their times to the process of costmodel/calibration/Refinement.h, and the others are judged.
#pragma once

#include "costmodel/calibration/Refinement.h"
#include "experiments/score/ScoreRows.h"
#include "experiments/support/Json.h"

#include <span>
#include <vector>

namespace kw {

struct LearningCurveOptions {
  std::vector<int> runs;      ///< how many are given, e.g. 4 and 16
  int draws = 5;              ///< of each group, at random
  std::size_t leastRest = 16; ///< groups with fewer rows besides those given are left out
  double absurd = 20;         ///< factor by which one run is off in `after_absurd`
  std::uint64_t seed = 0;
};

/// `rows` carry the predictions of fits without their groups (crossValidate). By family: a list
/// with an entry for each of `runs`, {runs, groups, rows, mape{before, after, after_absurd},
/// mape_by_group{the same}, coverage80{before, after}}; rows and groups that are judged are the
/// same before and after.
Json learningCurve(std::span<const ScoredRow> rows, const LearningCurveOptions &options);

} // namespace kw
