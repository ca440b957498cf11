// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The nearest legal change of an illegal schedule, found by trying: first one decision at a time,
// then two, then three. Nothing here knows a rule but by the decisions that it reads: a change that
// touches none of them cannot mend it.
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
  DecisionMask bit;
  std::vector<std::int64_t> values;
};

class Search {
public:
  Search(const Problem &problem, const Schedule &schedule, const Target &target,
         std::vector<Choice> choices, std::size_t most)
      : problem(problem), target(target), all(rules(kindOf(schedule))), choices(std::move(choices)),
        most(most) {
    for (const Rule &rule : all) {
      if (!rule.holds(problem, schedule, target)) {
        broken.push_back(rule.reads);
      }
    }
  }

  /// Every schedule with exactly `changes` more decisions changed, from choice `first` on, beside
  /// those in `changed`.
  void run(Schedule &schedule, std::size_t first, int changes, DecisionMask changed = 0) {
    if (changes == 0) {
      ++tried;
      if (holds(schedule)) {
        found.push_back(schedule);
      }
      return;
    }
    for (std::size_t i = first; i < choices.size() && open(); ++i) {
      const DecisionMask here = changed | choices[i].bit;
      if (changes == 1 && !mayMend(here)) {
        continue;
      }
      const std::int64_t before = choices[i].decision->get(schedule);
      const std::size_t known = found.size();
      for (std::int64_t value : choices[i].values) {
        choices[i].decision->set(schedule, value);
        run(schedule, i + 1, changes - 1, here);
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

  bool mayMend(DecisionMask changed) const {
    return std::ranges::all_of(broken, [&](DecisionMask reads) { return (reads & changed) != 0; });
  }

  /// Neighbours mostly break the same rule: the one that failed last is asked first.
  bool holds(const Schedule &schedule) {
    if (!all[failedLast].holds(problem, schedule, target)) {
      return false;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i != failedLast && !all[i].holds(problem, schedule, target)) {
        failedLast = i;
        return false;
      }
    }
    return true;
  }

  // A rule or two take a microsecond each: below a second in the worst case.
  static constexpr int mostTried = 400000;

  const Problem &problem;
  const Target &target;
  std::span<const Rule> all;
  std::vector<Choice> choices;
  std::size_t most;
  std::vector<DecisionMask> broken; ///< what the rules read that fail at first
  std::size_t failedLast = 0;
  int tried = 0;
};

} // namespace

std::vector<Schedule> nearestLegal(const Problem &problem, const Schedule &schedule,
                                   const Target &target, DecisionMask readable, std::size_t most) {
  const std::span<const Decision> all = decisions(kindOf(schedule));
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const DecisionMask bit = DecisionMask(1) << i;
    if (readable & bit) {
      choices.push_back({&all[i], bit, triedValues(all[i], all[i].get(schedule))});
    }
  }
  Search search(problem, schedule, target, std::move(choices), most);
  Schedule changed = schedule;
  constexpr int mostChanges = 3;
  for (int changes = 1; changes <= mostChanges && search.found.empty(); ++changes) {
    search.run(changed, 0, changes);
  }
  return search.found;
}

} // namespace kw
