// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/Space.h"
#include "experiments/kw/Arguments.h"
#include "experiments/kw/Command.h"
#include "experiments/kw/Output.h"
#include "experiments/support/FirstError.h"

#include <fmt/format.h>
#include <limits>
#include <memory>
#include <optional>

namespace kw {

namespace {

struct Options {
  std::vector<std::string> words;
  std::string generator = "kw";
  std::optional<std::string> explain;
  std::size_t list = 0;
};

std::string countText(const Space &space, const SpaceCount &count) {
  std::vector<std::vector<std::string>> rows{{"rule", "removed"}};
  for (const RuleCount &rule : count.rules) {
    rows.push_back({std::string(rule.rule), std::to_string(rule.removed)});
  }
  return fmt::format("{}\n{} of {} schedules are legal\n{}", print(space.problem()), count.legal,
                     count.raw, table(rows));
}

/// Adds the schedule's violations to the document and the text.
Expected<void> explain(const Problem &problem, const std::string &text, const Target &target,
                       Json &document, std::string &readable) {
  const Expected<Schedule> schedule = parseSchedule(text);
  if (!schedule) {
    return tl::unexpected(schedule.error());
  }
  Json list = Json::array();
  readable = print(*schedule) + "\n";
  for (const Violation &violation : checkLegal(problem, *schedule, target)) {
    list.push_back({{"rule", violation.rule}, {"message", violation.message}});
    readable += fmt::format("{}: {}\n", violation.rule, violation.message);
  }
  if (list.empty()) {
    readable += "legal\n";
  }
  document["schedule"] = print(*schedule);
  document["violations"] = std::move(list);
  return {};
}

Expected<ExitStatus> run(const Options &options, const CommonOptions &common) {
  const Expected<Problem> problem = problemOf(options.words);
  const Expected<const Target *> target = common.target();
  const Expected<Generator> generator = parseGenerator(options.generator);
  if (const Error *error = firstError(problem, target, generator)) {
    return tl::unexpected(*error);
  }
  if (const Expected<ScheduleKind> kind = findKind(problem->family(), *generator); !kind) {
    return tl::unexpected(kind.error());
  }
  const Space space(*problem, **target, *generator);
  const SpaceCount count = space.count();
  Json rules = Json::array();
  for (const RuleCount &rule : count.rules) {
    rules.push_back({{"rule", rule.rule}, {"removed", rule.removed}});
  }
  Json document = {{"problem", print(*problem)},     {"target", (*target)->name},
                   {"generator", options.generator}, {"raw", count.raw},
                   {"legal", count.legal},           {"rules", std::move(rules)}};
  std::string text = countText(space, count);
  if (options.explain) {
    if (Expected<void> done = explain(*problem, *options.explain, **target, document, text);
        !done) {
      return tl::unexpected(done.error());
    }
  }
  if (options.list > 0) {
    document["schedules"] = Json::array();
    for (const Schedule &schedule : space.sample(options.list, common.seed)) {
      document["schedules"].push_back(print(schedule));
      text += print(schedule) + "\n";
    }
  }
  if (Expected<void> printed = print(common, document, text); !printed) {
    return tl::unexpected(printed.error());
  }
  return exitDone;
}

} // namespace

RunCommand addSpace(CLI::App &app, const CommonOptions &common) {
  const auto options = std::make_shared<Options>();
  app.add_option("PROBLEM", options->words, "FAMILY key=value ...");
  app.add_option("--generator", options->generator, "whose decisions: kw or triton")
      ->capture_default_str();
  app.add_option("--explain", options->explain, "list what this schedule violates");
  app.add_option("--list", options->list, "also print N legal schedules, drawn uniformly")
      ->check(wholeNumber(0, std::numeric_limits<std::int64_t>::max()));
  return [options, &common] { return run(*options, common); };
}

} // namespace kw
