// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that the outcome of a tuning run depends on. Equal specs are the same run: that is
// what resuming and answering from the store rest on.
#pragma once

#include "costmodel/calibration/ProblemCalibration.h"
#include "experiments/support/Json.h"
#include "ir/Generator.h"
#include "ir/Problem.h"
#include "ir/Schedule.h"
#include "ir/Target.h"
#include "search/Trial.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// How much is tried before the best are validated.
struct Budget {
  std::int64_t evaluations = 64; ///< schedules that are compiled (model only: estimated)
  double seconds = 0;            ///< more than 0: wall clock instead of evaluations
};

/// "500evals", "60s", "5m"; the error says so.
Expected<Budget> parseBudget(std::string_view text);
std::string print(const Budget &budget);

struct TuneSpec {
  Problem problem;
  const Target *target = nullptr;
  Generator generator = Generator::kw;
  std::string strategy = "exhaustive";
  std::uint64_t seed = 0;
  Budget budget;
  int top = 10; ///< candidates wanted
  std::vector<Rung> rungs{Rung::model, Rung::compiled};
  std::string device = "emulated";
  bool deterministic = false;      ///< only kernels whose result does not depend on timing
  std::vector<Schedule> schedules; ///< instead of a search, in this order; empty: search
  ProblemCalibration calibration;  ///< what the estimates rest on

  /// Compiled candidates are validated too.
  bool compiles() const;
};

/// "model,compiled": names the rungs that are known, and those that are not available yet.
Expected<std::vector<Rung>> parseRungs(std::string_view text);

Json toJson(const TuneSpec &spec);
Expected<TuneSpec> parseTuneSpec(const nlohmann::json &json);

/// 12 hexadecimal digits of the spec and of the versions of model, compiler and validator.
std::string runId(const TuneSpec &spec);

} // namespace kw
