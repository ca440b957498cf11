// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a prediction has to beat: models that know the problem but no kernel, and a fit without a
// model.
#pragma once

#include "experiments/score/ScoreRows.h"

#include <optional>
#include <span>
#include <string_view>

namespace kw {

struct Baseline {
  std::string_view name;
  /// Microseconds of a row that was modelled; nullopt: says nothing of such rows.
  std::optional<double> (*us)(const ScoredRow &);
};

/// roofline: max(flops / peak, bytes / 8 TB/s).
/// origami: OrigamiBaseline.h; GEMM rows of gfx950.
/// fitted_roofline: t0 + max(flops / (e peak), bytes / (w 8 TB/s)), three constants a type.
/// boosting: gradient boosting of log(time) on the row's features alone, by a fit that hasn't seen
/// the row's group (`kw calibrate --cross-validate`, costmodel/calibration/fit.py).
std::span<const Baseline> baselines();

/// The row's prediction replaced by the baseline's; rows of which it says nothing are left out.
std::vector<ScoredRow> withBaseline(std::span<const ScoredRow> rows, const Baseline &baseline);

} // namespace kw
