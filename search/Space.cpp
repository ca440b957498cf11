// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/Space.h"

#include "search/Enumerator.h"
#include "search/SparseShuffle.h"
#include "search/spaces/Spaces.h"

#include <array>
#include <cassert>
#include <mutex>

namespace kw {

struct Space::State {
  State(const Problem &problem, const Target &target, std::vector<Axis> axes, Generator generator)
      : problem(problem), target(target),
        enumerator(this->problem, {problem.family(), generator}, target, std::move(axes)) {}

  const Enumerator::Index &index() const {
    std::call_once(counted, [this] { lazyIndex = enumerator.makeIndex(); });
    return lazyIndex;
  }

  Problem problem;
  const Target &target;
  Enumerator enumerator;
  mutable std::once_flag counted;
  mutable Enumerator::Index lazyIndex;
};

std::vector<Axis> spaceAxes(const Problem &problem, const Target &target, Generator generator) {
  using Axes = std::vector<Axis> (*)(const Problem &, const Target &);
  // In the order of the alternatives of `Schedule`.
  constexpr std::array<Axes, std::variant_size_v<Schedule>> makers{
      gemmAxes, rmsNormAxes, tritonGemmAxes, attentionAxes, groupedGemmAxes, topKAxes};
  return makers[indexOf({problem.family(), generator})](problem, target);
}

Space::Space(const Problem &problem, const Target &target, Generator generator)
    : Space(problem, target, spaceAxes(problem, target, generator), generator) {}

Space::Space(const Problem &problem, const Target &target, std::vector<Axis> axes,
             Generator generator)
    : state(std::make_shared<const State>(problem, target, std::move(axes), generator)) {}

const Problem &Space::problem() const { return state->problem; }
ScheduleKind Space::kind() const { return state->enumerator.kind(); }
const Target &Space::target() const { return state->target; }
const std::vector<Axis> &Space::axes() const { return state->enumerator.axes(); }
const SpaceCount &Space::count() const { return state->index().count; }
std::uint64_t Space::size() const { return count().legal; }

void Space::forEach(const std::function<bool(const Schedule &)> &visit) const {
  forRange(0, size(), visit);
}

void Space::forRange(std::uint64_t first, std::uint64_t last,
                     const std::function<bool(const Schedule &)> &visit) const {
  state->enumerator.visit(state->index(), first, last, visit);
}

Schedule Space::at(std::uint64_t rank) const {
  assert(rank < size());
  Schedule found;
  forRange(rank, rank + 1, [&](const Schedule &schedule) {
    found = schedule;
    return false;
  });
  return found;
}

std::vector<Schedule> Space::sample(std::size_t n, std::uint64_t seed) const {
  std::vector<Schedule> drawn;
  SparseShuffle ranks(size(), seed);
  while (drawn.size() < n) {
    const auto rank = ranks.next();
    if (!rank) {
      break;
    }
    drawn.push_back(at(*rank));
  }
  return drawn;
}

std::vector<Schedule> Space::neighbours(const Schedule &schedule) const {
  std::vector<Schedule> found;
  for (const Axis &axis : axes()) {
    const Decision &decision = decisions(kind())[static_cast<std::size_t>(axis.decision)];
    for (std::int64_t value : axis.values) {
      Schedule changed = schedule;
      decision.set(changed, value);
      if (changed != schedule && contains(changed)) {
        found.push_back(changed);
      }
    }
  }
  return found;
}

bool Space::contains(const Schedule &schedule) const {
  return kindOf(schedule) == kind() && state->enumerator.onAxes(schedule) &&
         isLegal(problem(), schedule, target());
}

} // namespace kw
