// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The legal schedules of a problem: axes (values per decision, search/spaces/) pruned by
// ir's rules while enumerating, not after. Read next: Enumerator.h.
#pragma once

#include "ir/Decision.h"
#include "ir/Rule.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace kw {

/// Values of one decision, in the order tried. `decision` indexes decisions(kind).
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

/// Legal schedules have ranks 0, 1, ... in a fixed order. Counting happens once, when first needed;
/// after that a rank is found without walking what lies before it. Safe for several threads.
class Space {
public:
  /// The axes of the problem's family and the generator, which must make it (`findKind`). `target`
  /// must outlive the space.
  Space(const Problem &problem, const Target &target, Generator generator = Generator::kw);
  /// Other axes: one for each decision of the kind, in any order.
  Space(const Problem &problem, const Target &target, std::vector<Axis> axes,
        Generator generator = Generator::kw);

  const Problem &problem() const;
  /// Of every schedule in it.
  ScheduleKind kind() const;
  const Target &target() const;
  /// In the order in which the enumerator assigns them.
  const std::vector<Axis> &axes() const;

  /// Exact, without visiting what a rule excludes at a partial assignment.
  const SpaceCount &count() const;
  /// count().legal
  std::uint64_t size() const;

  /// Every legal schedule, in the order of ranks; stops when `visit` returns false.
  void forEach(const std::function<bool(const Schedule &)> &visit) const;
  /// Those with ranks in [first, last).
  void forRange(std::uint64_t first, std::uint64_t last,
                const std::function<bool(const Schedule &)> &visit) const;
  /// The schedule of a rank below size().
  Schedule at(std::uint64_t rank) const;

  /// `n` legal schedules drawn uniformly without replacement (all, if there are fewer), same for
  /// the same seed; fewer of a sample are the beginning of more of it.
  std::vector<Schedule> sample(std::size_t n, std::uint64_t seed) const;

  /// Legal schedules that differ in one axis (repaired by no other change).
  std::vector<Schedule> neighbours(const Schedule &schedule) const;

  bool contains(const Schedule &schedule) const;

private:
  struct State;
  std::shared_ptr<const State> state;
};

/// The axes that the search explores, in the order of decisions(kind).
std::vector<Axis> spaceAxes(const Problem &problem, const Target &target,
                            Generator generator = Generator::kw);

} // namespace kw
