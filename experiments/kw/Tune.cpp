// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/kw/Arguments.h"
#include "experiments/kw/Command.h"
#include "experiments/kw/TuneRuns.h"
#include "experiments/rungs/TargetSupport.h"
#include "experiments/support/FirstError.h"
#include "runtime/Device.h"
#include "search/Strategy.h"

#include <fmt/format.h>
#include <memory>
#include <optional>

namespace kw {

namespace {

struct Options {
  std::vector<std::string> words;
  std::optional<std::string> suite;
  std::string generator = "kw", strategy = "exhaustive", budget = "64evals";
  std::string rungs = "model,compiled", device = "emulated", out, cluster;
  bool deterministic = false;
  int top = 10;
  double trialSeconds = 300;
};

Expected<void> checkStrategy(const std::string &name) {
  if (findStrategy(name) != nullptr) {
    return {};
  }
  std::string names;
  for (const StrategyRow &row : strategies()) {
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return badInput(fmt::format("unknown strategy '{}', expected one of {}", name, names));
}

/// All that the problems of a suite share.
Expected<TuneSpec> commonSpec(const Options &options, const CommonOptions &common) {
  const Expected<const Target *> target = common.target();
  const Expected<void> generator = checkGenerator(options.generator);
  const Expected<void> strategy = checkStrategy(options.strategy);
  const Expected<Budget> budget = parseBudget(options.budget);
  const Expected<std::vector<Rung>> rungs = parseRungs(options.rungs);
  const Expected<std::unique_ptr<Device>> device = makeDevice(options.device);
  if (const Error *error = firstError(target, generator, strategy, budget, rungs, device)) {
    return tl::unexpected(*error);
  }
  if (!options.cluster.empty()) {
    return failed("--cluster is not available yet");
  }
  TuneSpec spec;
  spec.target = *target;
  spec.generator = options.generator;
  spec.strategy = options.strategy;
  spec.seed = common.seed;
  spec.budget = *budget;
  spec.top = options.top;
  spec.rungs = *rungs;
  spec.device = options.device;
  spec.deterministic = options.deterministic;
  return spec;
}

Expected<std::vector<Problem>> problems(const Options &options) {
  if (options.suite) {
    if (!options.words.empty()) {
      return badInput("give PROBLEM or --suite, not both");
    }
    return readSuite(*options.suite);
  }
  const Expected<Problem> problem = problemOf(options.words);
  if (!problem) {
    return tl::unexpected(problem.error());
  }
  return std::vector{*problem};
}

/// Whether each rung can be climbed on the target.
Expected<void> checkTarget(const TuneSpec &spec) {
  if (!spec.compiles()) {
    return {};
  }
  if (spec.device == "emulated") {
    if (Expected<void> emulates = checkEmulates(*spec.target); !emulates) {
      return emulates;
    }
  }
  return checkCompiles(spec.problem, *spec.target);
}

Expected<ExitStatus> run(const Options &options, const CommonOptions &common) {
  const Expected<std::vector<Problem>> list = problems(options);
  if (!list) {
    return tl::unexpected(list.error());
  }
  const Expected<TuneSpec> spec = commonSpec(options, common);
  if (!spec) {
    return tl::unexpected(spec.error());
  }
  TuneRequest request;
  request.out = options.out;
  request.suite = options.suite.has_value();
  request.trialSeconds = options.trialSeconds;
  for (const Problem &problem : *list) {
    request.specs.push_back(*spec);
    request.specs.back().problem = problem;
    if (Expected<void> supported = checkTarget(request.specs.back()); !supported) {
      return tl::unexpected(supported.error());
    }
  }
  Expected<Store> store = Store::open(common.db, Store::Access::write);
  if (!store) {
    return tl::unexpected(store.error());
  }
  return tuneAll(request, *store, common);
}

} // namespace

RunCommand addTune(CLI::App &app, const CommonOptions &common) {
  const auto options = std::make_shared<Options>();
  app.add_option("PROBLEM", options->words, "FAMILY key=value ...");
  app.add_option("--suite", options->suite, "file with one problem a line");
  app.add_option("--generator", options->generator, "whose decisions")->capture_default_str();
  app.add_option("--strategy", options->strategy, "how the space is explored")
      ->capture_default_str();
  app.add_option("--budget", options->budget, "schedules to compile, or wall clock: 500evals, 60s")
      ->capture_default_str();
  app.add_option("--top", options->top, "candidates wanted")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  app.add_option("--rungs", options->rungs, "how far candidates climb")->capture_default_str();
  app.add_option("--device", options->device, "emulated or hip")->capture_default_str();
  app.add_option("--out", options->out, "folder for the bundle of the best")->check(notEmpty);
  app.add_option("--cluster", options->cluster, "ray[:ADDRESS]");
  app.add_option("--trial-seconds", options->trialSeconds, "limit of one trial")
      ->capture_default_str()
      ->check(numberWithin(0.001, 1e6));
  app.add_flag("--deterministic", options->deterministic,
               "only kernels whose result does not depend on timing");
  return [options, &common] { return run(*options, common); };
}

} // namespace kw
