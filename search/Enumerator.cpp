// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/Enumerator.h"

#include <algorithm>
#include <cassert>

namespace kw {
namespace {

/// Raw assignments of the checkpoint levels: enough of them that a subtree takes microseconds, few
/// enough that their survivors take no memory to speak of.
constexpr std::uint64_t mostCheckpoints = 1 << 20;

} // namespace

Enumerator::Enumerator(const Problem &problem, ScheduleKind kind, const Target &target,
                       std::vector<Axis> axes)
    : problem(problem), scheduleKind(kind), target(target), rules(kw::rules(kind)) {
  orderAxes(std::move(axes));
  placeRules();
}

void Enumerator::orderAxes(std::vector<Axis> axes) {
  std::ranges::sort(axes, {}, &Axis::decision);
  assert(axes.size() == decisions(scheduleKind).size() && "one axis a decision");
  const auto take = [&](DecisionMask wanted) {
    for (Axis &axis : axes) {
      if ((wanted >> axis.decision & 1) != 0 && !axis.values.empty()) {
        orderedAxes.push_back(std::move(axis));
        axis.values.clear();
      }
    }
  };
  for (const Rule &rule : rules) {
    take(rule.reads);
  }
  take(~DecisionMask(0));
}

void Enumerator::placeRules() {
  const std::span<const Decision> all = decisions(scheduleKind);
  DecisionMask assigned = 0;
  std::size_t next = 0; // rule
  for (; next < rules.size() && rules[next].reads == 0; ++next) {
    problemRules.push_back(next);
  }
  for (const Axis &axis : orderedAxes) {
    Level level;
    level.decision = &all[static_cast<std::size_t>(axis.decision)];
    assigned |= DecisionMask(1) << axis.decision;
    for (; next < rules.size() && (rules[next].reads & ~assigned) == 0; ++next) {
      level.rules.push_back(next);
    }
    levels.push_back(std::move(level));
    openLevels = levels.back().rules.empty() ? openLevels : levels.size();
  }
  assert(next == rules.size() && "every rule has a level");
  for (std::size_t i = levels.size(); i-- > 1;) {
    levels[i - 1].below = levels[i].below * orderedAxes[i].values.size();
  }
  std::uint64_t raw = 1;
  while (checkpointLevel < openLevels &&
         raw * orderedAxes[checkpointLevel].values.size() <= mostCheckpoints) {
    raw *= orderedAxes[checkpointLevel++].values.size();
  }
}

const std::size_t *Enumerator::firstFailing(const std::vector<std::size_t> &indices,
                                            const Schedule &schedule) const {
  for (const std::size_t &index : indices) {
    if (!rules[index].holds(problem, schedule, target)) {
      return &index;
    }
  }
  return nullptr;
}

// ---- Counting ----

class Enumerator::Counting {
public:
  explicit Counting(const Enumerator &owner)
      : owner(owner), schedule(defaultSchedule(owner.scheduleKind)) {
    for (const Rule &rule : owner.rules) {
      index.count.rules.push_back({rule.name, 0});
    }
    index.count.raw = owner.levels.front().below * owner.orderedAxes.front().values.size();
  }

  Index run() {
    if (const std::size_t *rule = owner.firstFailing(owner.problemRules, schedule)) {
      index.count.rules[*rule].removed = index.count.raw;
    } else {
      enter(0, 0);
    }
    return std::move(index);
  }

private:
  void enter(std::size_t i, std::uint64_t code) {
    if (i == owner.checkpointLevel) {
      const std::uint64_t first = index.count.legal;
      descend(i, code);
      if (index.count.legal > first) {
        index.checkpoints.push_back({code, first});
      }
      return;
    }
    descend(i, code);
  }

  void descend(std::size_t i, std::uint64_t code) {
    if (i == owner.openLevels) {
      index.count.legal += i == 0 ? index.count.raw : owner.levels[i - 1].below;
      return;
    }
    const Level &level = owner.levels[i];
    const std::vector<std::int64_t> &values = owner.orderedAxes[i].values;
    for (std::size_t v = 0; v < values.size(); ++v) {
      level.decision->set(schedule, values[v]);
      if (const std::size_t *rule = owner.firstFailing(level.rules, schedule)) {
        index.count.rules[*rule].removed += level.below;
      } else {
        enter(i + 1, code * values.size() + v);
      }
    }
  }

  const Enumerator &owner;
  Schedule schedule;
  Index index;
};

Enumerator::Index Enumerator::makeIndex() const { return Counting(*this).run(); }

// ---- Visiting ----

class Enumerator::Visiting {
public:
  Visiting(const Enumerator &owner, std::uint64_t first, std::uint64_t last, const Visit &visit)
      : owner(owner), first(first), last(last), visit(visit),
        schedule(defaultSchedule(owner.scheduleKind)) {}

  /// The subtree of a checkpoint; false: no more.
  bool run(const Checkpoint &checkpoint) {
    rank = checkpoint.first;
    std::uint64_t code = checkpoint.code;
    for (std::size_t i = owner.checkpointLevel; i-- > 0;) {
      const std::vector<std::int64_t> &values = owner.orderedAxes[i].values;
      owner.levels[i].decision->set(schedule, values[code % values.size()]);
      code /= values.size();
    }
    return descend(owner.checkpointLevel);
  }

private:
  bool descend(std::size_t i) {
    if (i == owner.levels.size()) {
      const bool wanted = rank >= first;
      ++rank;
      return !wanted || (visit(schedule) && rank < last);
    }
    const Level &level = owner.levels[i];
    const std::uint64_t each = level.below;
    for (std::int64_t value : owner.orderedAxes[i].values) {
      // No rule is open here: what lies before the range is skipped as a number.
      if (i >= owner.openLevels && rank + each <= first) {
        rank += each;
        continue;
      }
      level.decision->set(schedule, value);
      if (!owner.firstFailing(level.rules, schedule) && !descend(i + 1)) {
        return false;
      }
    }
    return true;
  }

  const Enumerator &owner;
  std::uint64_t first, last;
  const Visit &visit;
  Schedule schedule;
  std::uint64_t rank = 0;
};

void Enumerator::visit(const Index &index, std::uint64_t first, std::uint64_t last,
                       const Visit &visit) const {
  if (first >= std::min(last, index.count.legal)) {
    return;
  }
  // The last checkpoint that starts at or before the first rank.
  auto checkpoint = std::ranges::upper_bound(index.checkpoints, first, {}, &Checkpoint::first) - 1;
  Visiting visiting(*this, first, last, visit);
  while (checkpoint != index.checkpoints.end() && visiting.run(*checkpoint)) {
    ++checkpoint;
  }
}

bool Enumerator::onAxes(const Schedule &schedule) const {
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::int64_t value = levels[i].decision->get(schedule);
    if (std::ranges::find(orderedAxes[i].values, value) == orderedAxes[i].values.end()) {
      return false;
    }
  }
  return true;
}

} // namespace kw
