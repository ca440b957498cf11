// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The legal schedules of a problem: axes (values per decision, search/spaces/FAMILY.cpp) pruned by
// ir's rules while enumerating, not after.
#pragma once

#include "ir/Decision.h"
#include "ir/Rule.h"

#include <cstdint>
#include <functional>
#include <random>
#include <string_view>
#include <vector>

namespace kw {

/// Values of one decision, in the order tried. `decision` indexes decisions(family).
struct Axis {
  int decision = 0;
  std::vector<std::int64_t> values;
};

struct RuleCount {
  std::string_view rule;
  std::uint64_t removed = 0; ///< schedules cut, charged to the first rule in order that failed
};

struct SpaceCount {
  std::uint64_t raw = 0, legal = 0;
  std::vector<RuleCount> rules; ///< every rule; raw == legal + sum of removed
};

class Space {
public:
  Space(const Problem &problem, const Target &target);

  const Problem &problem() const { return spaceProblem; }
  const std::vector<Axis> &axes() const { return spaceAxes; }

  /// Exact, without visiting what a rule excludes at a partial assignment.
  SpaceCount count() const;

  /// Every legal schedule, in a fixed order; stops when `visit` returns false.
  void forEach(const std::function<bool(const Schedule &)> &visit) const;

  /// `n` legal schedules drawn uniformly without replacement (all, if there are fewer), same for
  /// the same seed.
  std::vector<Schedule> sample(std::size_t n, std::uint64_t seed) const;

  /// Legal schedules that differ in one axis (repaired by no other change).
  std::vector<Schedule> neighbours(const Schedule &schedule) const;

  bool contains(const Schedule &schedule) const;

private:
  Problem spaceProblem;
  const Target *target;
  std::vector<Axis> spaceAxes; ///< in enumeration order
};

} // namespace kw
