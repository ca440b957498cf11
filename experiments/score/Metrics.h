// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far predictions are off. Errors are |predicted / measured - 1|, as fractions.
#pragma once

#include "experiments/score/ScoreRows.h"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace kw {

struct Errors {
  std::size_t rows = 0;
  double mape = 0, medianApe = 0, p90Ape = 0;
  double within10 = 0, within20 = 0;
  double coverage80 = 0; ///< share of measurements inside the interval
  double bias = 0;       ///< median of log(predicted / measured)
};

/// One judged prediction.
struct ErrorSample {
  double error = 0; ///< signed
  bool covered = false;
  std::string group; ///< weight shape
};

std::vector<ErrorSample> samplesOf(std::span<const ScoredRow> rows);
Errors errorsOf(std::span<const ErrorSample> samples);

/// MAPE where each group counts once.
double mapeByGroup(std::span<const ErrorSample> samples);

struct Interval {
  double low = 0, high = 0;
};
/// 90% intervals of the MAPE over rows and of the MAPE by group: groups are drawn with replacement,
/// because rows of one weight shape are alike.
struct BootstrapIntervals {
  Interval mape, mapeByGroup;
};
BootstrapIntervals bootstrap(std::span<const ErrorSample> samples, std::uint64_t seed,
                             int draws = 400);

/// Errors of the counting rows by what `key` says.
std::map<std::string, Errors> errorsBy(std::span<const ScoredRow> rows,
                                       const std::function<std::string(const ScoredRow &)> &key);

/// Value below which the fraction of the values lies, between neighbours interpolated.
double quantile(std::vector<double> values, double fraction);

} // namespace kw
