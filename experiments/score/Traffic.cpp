// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/Traffic.h"

#include <fmt/format.h>

namespace kw {

TrafficErrors trafficErrors(std::span<const ScoredRow> rows) {
  std::vector<ErrorSample> all;
  std::map<std::string, std::vector<ErrorSample>> byStage, byRows;
  for (const ScoredRow &row : rows) {
    if (!row.modelCase || row.time.readBytes.value_or(0) <= 0) {
      continue;
    }
    const ErrorSample sample{row.modelCase->readBytes / *row.time.readBytes - 1, false,
                             row.modelCase->group};
    const int stage = row.row.moe.stage;
    all.push_back(sample);
    byStage[stage == 0 ? "both" : fmt::format("stage{}", stage)].push_back(sample);
    byRows[bucketOf(row.m())].push_back(sample);
  }
  TrafficErrors errors;
  errors.all = errorsOf(all);
  for (const auto &[stage, samples] : byStage) {
    errors.byStage[stage] = errorsOf(samples);
  }
  for (const auto &[bucket, samples] : byRows) {
    errors.byRows[bucket] = errorsOf(samples);
  }
  return errors;
}

} // namespace kw
