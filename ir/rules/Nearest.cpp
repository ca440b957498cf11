// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The nearest legal change of an illegal schedule, found by trying: first one decision at a time,
// then two, then three. Nothing here knows a rule.
#include "ir/Rule.h"

#include <algorithm>
#include <cstdlib>

namespace kw {
namespace {

/// Values worth trying: every name, or 0, the powers of two and 3/2 of them.
std::vector<std::int64_t> triedValues(const Decision &decision, std::int64_t current) {
  std::vector<std::int64_t> values;
  const auto add = [&](std::int64_t value) {
    if (value >= decision.lowest && value <= decision.highest && value != current) {
      values.push_back(value);
    }
  };
  if (!decision.names.empty() || decision.highest <= 8) {
    for (std::int64_t value = decision.lowest; value <= decision.highest; ++value) {
      add(value);
    }
  } else {
    constexpr std::int64_t largestTried = 512;
    add(0);
    for (std::int64_t power = 1; power <= largestTried; power *= 2) {
      add(power);
      if (power >= 32) {
        add(power / 2 * 3);
      }
    }
  }
  std::ranges::stable_sort(values, {},
                           [&](std::int64_t value) { return std::abs(value - current); });
  return values;
}

struct Choice {
  const Decision *decision;
  std::vector<std::int64_t> values;
};

class Search {
public:
  Search(const Problem &problem, const Target &target, std::vector<Choice> choices,
         std::size_t most)
      : problem(problem), target(target), choices(std::move(choices)), most(most) {}

  /// Every schedule with exactly `changes` more decisions changed, from choice `first` on.
  void run(Schedule &schedule, std::size_t first, int changes) {
    if (changes == 0) {
      ++tried;
      if (isLegal(problem, schedule, target)) {
        found.push_back(schedule);
      }
      return;
    }
    for (std::size_t i = first; i < choices.size() && open(); ++i) {
      const std::int64_t before = choices[i].decision->get(schedule);
      const std::size_t known = found.size();
      for (std::int64_t value : choices[i].values) {
        choices[i].decision->set(schedule, value);
        run(schedule, i + 1, changes - 1);
        // The nearest value of a decision is enough.
        if (found.size() > known || !open()) {
          break;
        }
      }
      choices[i].decision->set(schedule, before);
    }
  }

  std::vector<Schedule> found;

private:
  bool open() const { return found.size() < most && tried < mostTried; }

  // A rule or two take a microsecond each: below a second in the worst case.
  static constexpr int mostTried = 400000;

  const Problem &problem;
  const Target &target;
  std::vector<Choice> choices;
  std::size_t most;
  int tried = 0;
};

} // namespace

std::vector<Schedule> nearestLegal(const Problem &problem, const Schedule &schedule,
                                   const Target &target, DecisionMask readable, std::size_t most) {
  const std::span<const Decision> all = decisions(kindOf(schedule));
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (readable >> i & 1) {
      choices.push_back({&all[i], triedValues(all[i], all[i].get(schedule))});
    }
  }
  Search search(problem, target, std::move(choices), most);
  Schedule changed = schedule;
  constexpr int mostChanges = 3;
  for (int changes = 1; changes <= mostChanges && search.found.empty(); ++changes) {
    search.run(changed, 0, changes);
  }
  return search.found;
}

} // namespace kw
