// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Rule.h"

#include "ir/rules/Rules.h"

#include <array>

namespace kw {
namespace {

/// The keys in which `changed` differs: "stages=2,tile=128x128x32".
std::string differingKeys(const Schedule &changed, const Schedule &schedule) {
  // A key that went back to its default is not printed, so both texts are made complete.
  const std::span<const Decision> all = decisions(kindOf(schedule));
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    std::string value;
    bool differs = false;
    while (end < all.size() && all[end].key == all[begin].key) {
      value += value.empty() ? "" : "x";
      value += all[end].format(all[end].get(changed));
      differs |= all[end].get(changed) != all[end].get(schedule);
      ++end;
    }
    if (differs) {
      text += text.empty() ? "" : ",";
      text += std::string(all[begin].key) + "=" + value;
    }
  }
  return text;
}

/// "; legal with stages=2 or tile=128x128x32", or nothing. Decisions that the broken rules read are
/// tried first; a change of those alone may break another rule.
std::string suggestion(const Problem &problem, const Schedule &schedule, const Target &target,
                       DecisionMask readable) {
  constexpr std::size_t most = 3;
  std::vector<Schedule> found = nearestLegal(problem, schedule, target, readable, most);
  if (found.empty()) {
    found = nearestLegal(problem, schedule, target, ~DecisionMask(0), most);
  }
  std::string text;
  for (const Schedule &legal : found) {
    text += text.empty() ? "; legal with " : " or ";
    text += differingKeys(legal, schedule);
  }
  return text;
}

/// Rules of one kind (of the problem alone or not) that fail.
std::vector<const Rule *> failing(const Problem &problem, const Schedule &schedule,
                                  const Target &target, bool ofProblem) {
  std::vector<const Rule *> list;
  for (const Rule &rule : rules(kindOf(schedule))) {
    if ((rule.reads == 0) == ofProblem && !rule.holds(problem, schedule, target)) {
      list.push_back(&rule);
    }
  }
  return list;
}

} // namespace

std::span<const Rule> rules(ScheduleKind kind) {
  // In the order of the alternatives of `Schedule`.
  static const std::array<std::span<const Rule>, std::variant_size_v<Schedule>> lists{
      gemmRules(),      rmsNormRules(),     tritonGemmRules(),
      attentionRules(), groupedGemmRules(), topKRules()};
  return lists[indexOf(kind)];
}

bool isLegal(const Problem &problem, const Schedule &schedule, const Target &target) {
  if (problem.family() != familyOf(schedule)) {
    return false;
  }
  for (const Rule &rule : rules(kindOf(schedule))) {
    if (!rule.holds(problem, schedule, target)) {
      return false;
    }
  }
  return true;
}

std::vector<Violation> checkLegal(const Problem &problem, const Schedule &schedule,
                                  const Target &target) {
  if (problem.family() != familyOf(schedule)) {
    return {{"family", "a schedule of " + std::string(name(familyOf(schedule))) +
                           " for a problem of " + std::string(name(problem.family()))}};
  }
  std::vector<Violation> violations;
  for (const Rule *rule : failing(problem, schedule, target, true)) {
    violations.push_back({rule->name, rule->explain(problem, schedule, target)});
  }
  if (!violations.empty()) {
    return violations;
  }
  const std::vector<const Rule *> broken = failing(problem, schedule, target, false);
  DecisionMask readable = 0;
  for (const Rule *rule : broken) {
    readable |= rule->reads;
  }
  if (broken.empty()) {
    return {};
  }
  // A change that mends one rule alone may leave others broken: what is suggested mends them all.
  const std::string advice = suggestion(problem, schedule, target, readable);
  for (const Rule *rule : broken) {
    violations.push_back({rule->name, rule->explain(problem, schedule, target) + advice});
  }
  return violations;
}

} // namespace kw
