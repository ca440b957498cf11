// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a strategy against a formula.
#pragma once

#include "search/Strategy.h"
#include "tests/search/Spaces.h"

#include <functional>
#include <string>
#include <vector>

namespace kw {

/// Time of a schedule; negative: the trial fails.
using Formula = std::function<double(const Schedule &)>;

/// The texts asked, in order, until `evaluations` or no more; `batch` at a time.
inline std::vector<std::string> drive(Strategy &strategy, const Formula &formula,
                                      std::size_t evaluations, std::size_t batch = 8) {
  std::vector<std::string> asked;
  while (asked.size() < evaluations) {
    const auto schedules = strategy.ask(std::min(batch, evaluations - asked.size()));
    if (schedules.empty()) {
      break;
    }
    for (const Schedule &schedule : schedules) {
      Trial trial{.schedule = schedule};
      const double us = formula(schedule);
      if (us < 0) {
        trial.state = TrialState::compileFailed;
      } else {
        trial.timeUs = us;
      }
      strategy.tell(trial);
      asked.push_back(print(schedule));
    }
  }
  return asked;
}

inline std::unique_ptr<Strategy> make(std::string_view name, const Space &space,
                                      std::uint64_t seed = 0, int jobs = 1) {
  return findStrategy(name)->make({space, gfx950(), seed, jobs});
}

} // namespace kw
