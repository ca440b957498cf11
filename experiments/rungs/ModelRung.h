// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cheapest rung: what the analytic model says of a schedule, and the schedule it likes best.
#pragma once

#include "costmodel/Estimate.h"
#include "costmodel/Features.h"
#include "experiments/support/Json.h"
#include "ir/Generator.h"
#include "ir/Problem.h"
#include "ir/Schedule.h"
#include "ir/Target.h"

#include <cstdint>
#include <string>

namespace kw {

/// What `kw estimate` prints of one schedule; `source` is "model" or "compiled".
Json estimateJson(const Problem &problem, const Schedule &schedule, const Target &target,
                  const Estimate &estimate, std::string_view source = "model");

/// The best of the whole space by the model with the constants of `calibration`. `nothingLegal` if
/// it is empty.
Expected<Schedule> bestByModel(const Problem &problem, const Target &target,
                               const Calibration &calibration, int jobs, std::uint64_t seed,
                               Generator generator = Generator::kw);

/// Why no schedule of the space is legal: the rule that the problem itself breaks, or the one that
/// removed most.
Error nothingLegalError(const Problem &problem, const Target &target,
                        Generator generator = Generator::kw);

/// A schedule as the user wrote it: parsed, of the problem's family, legal. The error is one line.
Expected<Schedule> parseLegalSchedule(const Problem &problem, std::string_view text,
                                      const Target &target);

} // namespace kw
