// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes a schedule illegal. A rule is one object: its name, the decisions it reads, its
// predicate, its explanation. The same objects prune the enumerator and make `checkLegal`: there
// is one truth. Rules of a kind of schedule are listed in ir/rules/FAMILY.cpp, in the order in
// which they are charged.
#pragma once

#include "ir/Decision.h"
#include "ir/Problem.h"
#include "ir/Schedule.h"
#include "ir/Target.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct Violation {
  std::string_view rule;
  /// One line: the fact that fails with its numbers, and the nearest legal change:
  /// "LDS 196608 > 163840 bytes at stages=3; legal with stages=2 or tile=128x256x32".
  std::string message;
};

struct Rule {
  std::string_view name;
  /// The decisions that `holds` reads. 0: it reads the problem and target alone (notSupported).
  DecisionMask reads = 0;
  /// Pure; may read only the decisions in `reads`, so that it can be asked as soon as they are set.
  bool (*holds)(const Problem &, const Schedule &, const Target &) = nullptr;
  /// The fact that fails, with its numbers; called when `holds` is false. `checkLegal` adds the
  /// nearest legal change.
  std::string (*explain)(const Problem &, const Schedule &, const Target &) = nullptr;
};

/// The problem's rules come first. The order is that in which removed schedules are charged, and
/// the search assigns decisions in the order in which the rules need them.
std::span<const Rule> rules(ScheduleKind kind);

/// Whether every rule holds. A schedule of another family than the problem's is not legal.
bool isLegal(const Problem &problem, const Schedule &schedule, const Target &target);

/// Every violation; empty: legal. A schedule of another family than the problem's is one violation;
/// of a problem that is not supported, only the reasons for that are listed.
std::vector<Violation> checkLegal(const Problem &problem, const Schedule &schedule,
                                  const Target &target);

/// Legal schedules that differ from `schedule` in as few decisions as possible (at most three),
/// among `readable`; at most `most` of them, nearest values first. Empty: none found.
std::vector<Schedule> nearestLegal(const Problem &problem, const Schedule &schedule,
                                   const Target &target, DecisionMask readable, std::size_t most);

} // namespace kw
