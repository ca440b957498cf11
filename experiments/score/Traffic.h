// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes that the L2s ask of Infinity Cache and HBM, predicted, beside what hardware counters
// counted. Rows that have counters only; their times, taken under a profiler, don't count.
#pragma once

#include "experiments/score/Metrics.h"

#include <map>
#include <string>

namespace kw {

struct TrafficErrors {
  Errors all;
  std::map<std::string, Errors> byStage; ///< "stage1", "stage2", "both" (one kernel)
  std::map<std::string, Errors> byRows;  ///< buckets of tokens
};

TrafficErrors trafficErrors(std::span<const ScoredRow> rows);

} // namespace kw
