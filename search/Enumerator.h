// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The propagating enumerator: decisions are assigned one after the other, a rule is asked as soon
// as all that it reads is assigned, and what it refuses is never entered.
//
// Decisions are assigned in the order in which the rules, taken in their order, need them; those
// that no rule reads come last. A rule is asked at the first level where it and all rules before it
// can be answered. So when it fails, every rule before it has held: a refused subtree is charged to
// the first rule that fails for each schedule in it, exactly, as one product of sizes. Where no
// rule is left open, the rest is a product too.
//
// Levels 0 to `checkpointLevel` - 1 make the checkpoints: their survivors are kept with the rank of
// their first schedule, so that a rank is found in one small subtree.
#pragma once

#include "search/Space.h"

namespace kw {

class Enumerator {
public:
  Enumerator(const Problem &problem, ScheduleKind kind, const Target &target,
             std::vector<Axis> axes);

  const std::vector<Axis> &axes() const { return orderedAxes; }
  ScheduleKind kind() const { return scheduleKind; }

  struct Checkpoint {
    std::uint64_t code = 0;  ///< mixed radix number of the value indices of the checkpoint levels
    std::uint64_t first = 0; ///< rank of its first legal schedule
  };
  struct Index {
    SpaceCount count;
    std::vector<Checkpoint> checkpoints; ///< those with legal schedules, in order
  };
  Index makeIndex() const;

  using Visit = std::function<bool(const Schedule &)>;
  /// Legal schedules with ranks in [first, last) until `visit` returns false.
  void visit(const Index &index, std::uint64_t first, std::uint64_t last, const Visit &visit) const;

  /// Whether every value is one of its axis.
  bool onAxes(const Schedule &schedule) const;

private:
  struct Level {
    const Decision *decision = nullptr;
    std::vector<std::size_t> rules; ///< indices into the kind's rules that fire here
    std::uint64_t below = 1;        ///< product of the sizes of the levels after this one
  };
  class Counting;
  class Visiting;

  /// The first rule of `indices` that fails; nullptr: none.
  const std::size_t *firstFailing(const std::vector<std::size_t> &indices,
                                  const Schedule &schedule) const;
  void orderAxes(std::vector<Axis> axes);
  void placeRules();

  const Problem &problem;
  ScheduleKind scheduleKind;
  const Target &target;
  std::span<const Rule> rules;
  std::vector<Axis> orderedAxes;
  std::vector<Level> levels;
  std::vector<std::size_t> problemRules; ///< those that read no decision
  std::size_t openLevels = 0;            ///< levels from here on have no rules
  std::size_t checkpointLevel = 0;
};

} // namespace kw
