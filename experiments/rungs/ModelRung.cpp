// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/rungs/ModelRung.h"

#include "ir/Rule.h"
#include "search/Space.h"
#include "search/Strategy.h"

#include <algorithm>
#include <fmt/format.h>

namespace kw {

Json estimateJson(const Problem &problem, const Schedule &schedule, const Target &target,
                  const Estimate &estimate, std::string_view source) {
  Json terms = Json::object();
  for (std::size_t i = 0; i < termCount; ++i) {
    terms[std::string(name(static_cast<Term>(i)))] = estimate.termsUs[i];
  }
  return {{"problem", print(problem)},
          {"schedule", print(schedule)},
          {"target", target.name},
          {"time_us", estimate.timeUs},
          {"source", source},
          {"interval_us", {estimate.lowUs, estimate.highUs}},
          {"limiter", name(estimate.limiter)},
          {"terms", std::move(terms)},
          {"tflops", estimate.tflops},
          {"gbps", estimate.gbps},
          {"occupancy", estimate.occupancy},
          {"vgpr", estimate.vgpr},
          {"agpr", estimate.agpr},
          {"lds_bytes", estimate.ldsBytes}};
}

Error nothingLegalError(const Problem &problem, const Target &target, Generator generator) {
  const ScheduleKind kind(problem.family(), generator);
  const Schedule anySchedule = defaultSchedule(kind);
  for (const Rule &rule : rules(kind)) {
    if (rule.reads == 0 && !rule.holds(problem, anySchedule, target)) {
      return {Error::Kind::nothingLegal,
              fmt::format("nothing is legal for {} on {}: {}: {}", print(problem), target.name,
                          rule.name, rule.explain(problem, anySchedule, target))};
    }
  }
  const SpaceCount count = Space(problem, target, generator).count();
  // A schedule is charged to the first rule that it breaks: the last one took all that were left.
  const auto last = std::find_if(count.rules.rbegin(), count.rules.rend(),
                                 [](const RuleCount &rule) { return rule.removed > 0; });
  if (last == count.rules.rend()) {
    return {Error::Kind::nothingLegal, fmt::format("nothing is legal for {} on {}: the space is "
                                                   "empty",
                                                   print(problem), target.name)};
  }
  std::string why;
  for (const Rule &rule : rules(kind)) {
    if (rule.name == last->rule && !rule.holds(problem, anySchedule, target)) {
      why = ", as in: " + rule.explain(problem, anySchedule, target);
    }
  }
  return {Error::Kind::nothingLegal,
          fmt::format("nothing is legal for {} on {}: of {} schedules, {} removed the last {}{}",
                      print(problem), target.name, count.raw, last->rule, last->removed, why)};
}

Expected<Schedule> bestByModel(const Problem &problem, const Target &target,
                               const Calibration &calibration, int jobs, std::uint64_t seed,
                               Generator generator) {
  if (const Expected<ScheduleKind> kind = findKind(problem.family(), generator); !kind) {
    return tl::unexpected(kind.error());
  }
  const Space space(problem, target, generator);
  const Target calibrated = calibration.calibrated(target);
  const StrategyContext context{space, calibrated, seed, jobs};
  const std::vector<Schedule> best = findStrategy(usualStrategy(space))->make(context)->ask(1);
  if (best.empty()) {
    return tl::unexpected(nothingLegalError(problem, target, generator));
  }
  return best.front();
}

Expected<Schedule> parseLegalSchedule(const Problem &problem, std::string_view text,
                                      const Target &target) {
  Expected<Schedule> schedule = parseSchedule(text);
  if (!schedule) {
    return schedule;
  }
  const std::vector<Violation> violations = checkLegal(problem, *schedule, target);
  if (!violations.empty()) {
    return badInput(fmt::format("schedule {} is not legal for {}: {}: {}", print(*schedule),
                                print(problem), violations.front().rule,
                                violations.front().message));
  }
  return schedule;
}

} // namespace kw
