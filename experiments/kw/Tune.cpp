// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/kw/Arguments.h"
#include "experiments/kw/CalibrationInForce.h"
#include "experiments/kw/Command.h"
#include "experiments/kw/Output.h"
#include "experiments/kw/TuneRuns.h"
#include "experiments/rungs/ModelRung.h"
#include "experiments/rungs/TargetSupport.h"
#include "experiments/support/FirstError.h"
#include "experiments/tune/GivenSchedules.h"
#include "ir/rules/EmissionLimits.h"
#include "runtime/Device.h"
#include "search/Space.h"
#include "search/Strategy.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>

namespace kw {

namespace {

constexpr std::string_view automatic = "auto"; ///< what search thinks usual for the space

struct Options {
  std::vector<std::string> words;
  std::optional<std::string> suite;
  std::string generator = "kw", strategy{automatic}, budget = "64evals";
  std::string rungs, device = "emulated", out, cluster;
  std::vector<std::string> schedules;
  bool rungsGiven = false; ///< else: all that the generator has
  bool deterministic = false;
  int top = 10;
  double trialSeconds = 300;
  CalibrationOptions calibration;
};

Expected<void> checkStrategy(const std::string &name) {
  if (name == automatic || findStrategy(name) != nullptr) {
    return {};
  }
  std::string names(automatic);
  for (const StrategyRow &row : strategies()) {
    names += ", " + std::string(row.name);
  }
  return badInput(fmt::format("unknown strategy '{}', expected one of {}", name, names));
}

/// Those that are asked for, else all that the generator has.
Expected<std::vector<Rung>> rungsOf(const Options &options) {
  const bool ours = options.generator != name(Generator::triton);
  if (!options.rungsGiven) {
    return parseRungs(ours ? "model,compiled" : "model");
  }
  Expected<std::vector<Rung>> rungs = parseRungs(options.rungs);
  if (!ours && rungs && *rungs != std::vector{Rung::model}) {
    return badInput("generator triton has the rung model only: Triton compiles its kernels, not "
                    "kw");
  }
  return rungs;
}

/// All that the problems of a suite share.
Expected<TuneSpec> commonSpec(const Options &options, const CommonOptions &common) {
  const Expected<const Target *> target = common.target();
  const Expected<Generator> generator = parseGenerator(options.generator);
  const Expected<void> strategy = checkStrategy(options.strategy);
  const Expected<Budget> budget = parseBudget(options.budget);
  const Expected<std::vector<Rung>> rungs = rungsOf(options);
  const Expected<std::unique_ptr<Device>> device = makeDevice(options.device);
  if (const Error *error = firstError(target, generator, strategy, budget, rungs, device)) {
    return tl::unexpected(*error);
  }
  if (!options.cluster.empty()) {
    return failed("--cluster is not available yet");
  }
  const bool ours = *generator == Generator::kw;
  if (!options.out.empty() && ours && std::ranges::count(*rungs, Rung::compiled) == 0) {
    return badInput(fmt::format("--out: --rungs {} makes no kernel to export, expected --rungs "
                                "model,compiled, or no --out",
                                options.rungs));
  }
  TuneSpec spec;
  spec.target = *target;
  spec.generator = *generator;
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
    if (!options.schedules.empty()) {
      return badInput("--schedule is for one PROBLEM, not for a suite");
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
  if (const auto kind = findKind(spec.problem.family(), spec.generator); !kind) {
    return tl::unexpected(kind.error());
  }
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

bool dependsOnTiming(const Schedule &schedule) {
  const auto *gemm = std::get_if<GemmSchedule>(&schedule);
  return gemm != nullptr && gemm->split.reduce == Reduction::atomic;
}

/// The user's schedules instead of a search.
Expected<void> readSchedules(const Options &options, TuneSpec &spec) {
  if (!options.schedules.empty() && options.strategy != automatic) {
    return badInput("--schedule tries what is given, --strategy searches: one of them");
  }
  for (const std::string &text : options.schedules) {
    Expected<Schedule> schedule = parseLegalSchedule(spec.problem, text, *spec.target);
    if (!schedule) {
      return tl::unexpected(schedule.error());
    }
    if (kindOf(*schedule) != ScheduleKind(spec.problem.family(), spec.generator)) {
      return badInput(fmt::format("schedule {} is not of the generator {}", print(*schedule),
                                  name(spec.generator)));
    }
    if (spec.deterministic && dependsOnTiming(*schedule)) {
      return badInput(fmt::format("schedule {} adds atomically: its result depends on timing, "
                                  "which --deterministic excludes",
                                  print(*schedule)));
    }
    if (std::find(spec.schedules.begin(), spec.schedules.end(), *schedule) !=
        spec.schedules.end()) {
      return badInput(fmt::format("schedule {} is given twice", print(*schedule)));
    }
    spec.schedules.push_back(std::move(*schedule));
  }
  spec.budget.evaluations =
      std::max(spec.budget.evaluations, static_cast<std::int64_t>(spec.schedules.size()));
  return {};
}

/// Records and results name what was chosen.
void chooseStrategy(TuneSpec &spec) {
  if (!spec.schedules.empty()) {
    spec.strategy = givenStrategy;
  } else if (spec.strategy == automatic) {
    spec.strategy = usualStrategy(Space(spec.problem, *spec.target, spec.generator));
  }
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
  const auto inForce = CalibrationInForce::load(options.calibration, common, *spec->target);
  if (!inForce) {
    return tl::unexpected(inForce.error());
  }
  TuneRequest request;
  request.out = options.out;
  request.suite = options.suite.has_value();
  request.trialSeconds = options.trialSeconds;
  for (const Problem &problem : *list) {
    const Expected<ScheduleKind> kind = findKind(problem.family(), spec->generator);
    if (!kind && request.suite) {
      Progress(common.quiet)
          .note(fmt::format("{}: left out: {}", print(problem), kind.error().message));
      continue;
    }
    request.specs.push_back(*spec);
    request.specs.back().problem = problem;
    request.specs.back().calibration = inForce->of(problem, spec->generator, *spec->target);
    if (Expected<void> read = readSchedules(options, request.specs.back()); !read) {
      return tl::unexpected(read.error());
    }
    if (kind) {
      chooseStrategy(request.specs.back());
    }
    if (Expected<void> supported = checkTarget(request.specs.back()); !supported) {
      // Of a suite the others are tuned; the problem's own result says why it has none.
      const bool pending = emissionLimit(problem, *request.specs.back().target).has_value();
      if (!request.suite || !pending) {
        return tl::unexpected(supported.error());
      }
    }
  }
  if (request.specs.empty()) {
    return badInput(fmt::format("{}: generator {} makes none of its problems", *options.suite,
                                name(spec->generator)));
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
  app.add_option("--generator", options->generator, "whose decisions: kw or triton")
      ->capture_default_str();
  app.add_option("--strategy", options->strategy, "how the space is explored")
      ->capture_default_str();
  app.add_option("--schedule", options->schedules,
                 "try this instead of a search (may be given several times)")
      ->take_all();
  app.add_option("--budget", options->budget, "schedules to compile, or wall clock: 500evals, 60s")
      ->capture_default_str();
  app.add_option("--top", options->top, "candidates wanted")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  app.add_option("--rungs", options->rungs,
                 "how far candidates climb (default model,compiled; triton: model)")
      ->each([options](const std::string &) { options->rungsGiven = true; });
  app.add_option("--device", options->device, "emulated or hip")->capture_default_str();
  app.add_option("--out", options->out, "folder for the bundle of the best")->check(notEmpty);
  app.add_option("--cluster", options->cluster, "ray[:ADDRESS]");
  app.add_option("--trial-seconds", options->trialSeconds, "limit of one trial")
      ->capture_default_str()
      ->check(numberWithin(0.001, 1e6));
  addCalibrationOptions(app, options->calibration);
  app.add_flag("--deterministic", options->deterministic,
               "only kernels whose result does not depend on timing");
  return [options, &common] { return run(*options, common); };
}

} // namespace kw
