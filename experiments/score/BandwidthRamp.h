// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bandwidth that products of few rows reach, by their bytes: the ramp from fixed cost to stream
// (costmodel.md 1.3), measured and predicted for the very same rows.
#pragma once

#include "experiments/score/ScoreRows.h"

#include <span>
#include <string>
#include <vector>

namespace kw {

/// Medians over the best kernel of each shape with m <= 16.
struct RampCell {
  std::string dtype;
  double fromMb = 0, toMb = 0; ///< compulsory bytes, 1e6
  std::size_t shapes = 0;
  double measuredGbps = 0, predictedGbps = 0; ///< compulsory bytes per time
  double error() const { return predictedGbps / measuredGbps - 1; }
};

/// bf16, fp8 with a scale a row, and mxfp4; cells without a shape are left out.
std::vector<RampCell> bandwidthRamp(std::span<const ScoredRow> rows);

} // namespace kw
