// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random problems with random legal schedules, compiled and proven in strict mode.
#pragma once

#include "ir/Problem.h"
#include "ir/Schedule.h"
#include "ir/Target.h"
#include "runtime/Validator.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kw {

struct RandomTrial {
  Problem problem;
  Schedule schedule;
  Target target; ///< with few CUs in some trials, where persistent workgroups take many turns

  std::string text() const {
    return print(problem) + " --schedule " + print(schedule) + " on " + std::to_string(target.cus) +
           " CUs";
  }
};

/// Trial `index` of a series: sizes from 1 upwards, primes included, every type and order that the
/// rules admit; a schedule drawn uniformly from the legal ones, of those that ask for an occupancy
/// too. Problems without a legal schedule are passed over. `only`: of this family alone.
RandomTrial randomTrial(std::uint64_t seed, std::uint64_t index,
                        std::optional<Family> only = std::nullopt);

struct TrialOutcome {
  enum class State { ok, compileFailed, spilled, wrong }; // ok: not wrong, if not validated
  State state = State::ok;
  std::string detail; ///< the error or the first finding
  double compileMilliseconds = 0, validateSeconds = 0;
  int vgpr = 0, plannedVgpr = 0; ///< of the first launch
};
/// `timings`: runs under adversarial time besides, whose outputs must be the same bits. Not
/// `validates`: compiles alone.
TrialOutcome runTrial(const RandomTrial &trial, Device &device, int jobs, int timings = 0,
                      bool validates = true);

} // namespace kw
