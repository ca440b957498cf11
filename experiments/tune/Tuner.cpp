// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/tune/Tuner.h"
#include "experiments/support/DocumentCalibration.h"

#include "codegen/Compile.h"
#include "experiments/rungs/CodeObjectFiles.h"
#include "experiments/rungs/CompiledRung.h"
#include "experiments/rungs/ModelRung.h"
#include "experiments/rungs/TargetSupport.h"
#include "experiments/support/FirstError.h"
#include "experiments/tune/GivenSchedules.h"
#include "experiments/tune/RunDocument.h"
#include "runtime/Validator.h"
#include "search/Space.h"
#include "search/Strategy.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kw {

namespace fs = std::filesystem;

namespace {

/// Schedules asked of the strategy at a time. A constant, so that the trace does not depend on the
/// number of jobs; large enough to keep them busy.
constexpr std::size_t batchSize = 16;

/// Part of a wall clock budget after which nothing new is compiled: the rest is for validation.
constexpr double searchFraction = 0.6;

/// Who made the kernels and judged them: of other versions nothing is exported.
Json versions() {
  return {{"compiler", compilerFingerprint()},
          {"model", modelVersion()},
          {"validator", validatorVersion()}};
}

/// A schedule on its way to becoming a candidate.
struct Contender {
  Schedule schedule;
  Estimate byModel;
  std::optional<Estimate> byCompiler; ///< same model, the compiled kernel's registers
  RungOutcome compiled, validated;

  const Estimate &best() const { return byCompiler ? *byCompiler : byModel; }
};

class Tuning {
public:
  Tuning(const TuneSpec &spec, TuneContext &context, const RunRecord &run)
      : spec(spec), context(context), run(run), space(spec.problem, *spec.target, spec.generator),
        calibrated(spec.calibration.calibrated(*spec.target)),
        model(spec.problem, *spec.target, spec.calibration), clock(run.seconds),
        runner(spec, run.id, clock, context) {}

  Expected<Json> operator()() {
    if (Expected<void> supported = checkCompiles(spec.problem, *spec.target);
        spec.compiles() && !supported) {
      return tl::unexpected(supported.error());
    }
    context.progress("counting the space");
    count = space.count();
    if (count.legal == 0) {
      return tl::unexpected(nothingLegalError(spec.problem, *spec.target, spec.generator));
    }
    if (Expected<void> searched = spec.compiles() ? searchCompiled() : searchByModel(); !searched) {
      return tl::unexpected(searched.error());
    }
    if (spec.compiles()) {
      if (Expected<void> validated = validateBest(); !validated) {
        return tl::unexpected(validated.error());
      }
    }
    if (contenders.empty()) {
      return failed(
          fmt::format("no candidate for {}: {}", print(spec.problem),
                      firstFailure.empty() ? "the budget allowed no trial" : firstFailure));
    }
    return document();
  }

private:
  std::unique_ptr<Strategy> makeStrategy() {
    if (!spec.schedules.empty()) {
      return std::make_unique<GivenSchedules>(spec.schedules);
    }
    const StrategyContext strategyContext{space, calibrated, spec.seed, context.jobs};
    return findStrategy(spec.strategy)->make(strategyContext);
  }

  /// How many schedules may be tried next.
  std::size_t allowance(std::size_t tried) const {
    if (spec.budget.seconds > 0) {
      return clock.seconds() < searchFraction * spec.budget.seconds ? batchSize : 0;
    }
    const auto left = static_cast<std::size_t>(spec.budget.evaluations) - tried;
    return std::min(batchSize, left);
  }

  void note(TrialState state, const std::string &error) {
    ++failures[std::string(name(state))];
    if (firstFailure.empty()) {
      firstFailure = fmt::format("{}: {}", name(state), error);
    }
  }

  Expected<void> searchByModel() {
    const std::unique_ptr<Strategy> strategy = makeStrategy();
    context.progress(fmt::format("estimating {} legal schedules", count.legal));
    for (std::size_t tried = 0; const std::size_t n = allowance(tried);) {
      const std::vector<Schedule> asked = strategy->ask(n);
      for (const Schedule &schedule : asked) {
        contenders.push_back({schedule, model.estimate(schedule), std::nullopt, {}, {}});
        strategy->tell({schedule, TrialState::ok, "", contenders.back().byModel.timeUs});
      }
      tried += asked.size();
      if (asked.size() < n) {
        break;
      }
    }
    estimated = strategy->estimated();
    rank();
    contenders.resize(std::min<std::size_t>(contenders.size(), spec.top));
    return {};
  }

  Expected<void> searchCompiled() {
    const std::unique_ptr<Strategy> strategy = makeStrategy();
    CompiledEvaluator evaluator(spec, runner);
    context.progress(fmt::format("ranking {} legal schedules", count.legal));
    for (std::size_t tried = 0; const std::size_t n = allowance(tried);) {
      const std::vector<Schedule> asked = strategy->ask(n);
      context.progress(fmt::format("compiling {} to {} of {}", tried + 1, tried + asked.size(),
                                   print(spec.budget)));
      const std::vector<Trial> trials = evaluator.evaluate(asked);
      if (evaluator.error()) {
        return tl::unexpected(*evaluator.error());
      }
      for (const Trial &trial : trials) {
        strategy->tell(trial);
        addContender(trial, evaluator.outcomes().at(print(trial.schedule)));
      }
      tried += asked.size();
      if (asked.size() < n) {
        break;
      }
    }
    estimated = strategy->estimated();
    rank();
    return {};
  }

  void addContender(const Trial &trial, const RungOutcome &compiled) {
    if (trial.state != TrialState::ok) {
      note(trial.state, trial.error);
      return;
    }
    ++compiledCount;
    Contender contender{trial.schedule, model.estimate(trial.schedule), std::nullopt, compiled, {}};
    contender.byCompiler = model.estimate(trial.schedule, compiledFacts(compiled.value));
    contenders.push_back(std::move(contender));
  }

  /// Best first; equals stay in the order asked.
  void rank() {
    std::stable_sort(
        contenders.begin(), contenders.end(),
        [](const Contender &a, const Contender &b) { return a.best().timeUs < b.best().timeUs; });
  }

  /// Keeps the best `top` that pass, in the order of the ranking.
  Expected<void> validateBest() {
    std::vector<Contender> valid;
    std::size_t next = 0;
    const auto wanted = static_cast<std::size_t>(spec.top);
    while (valid.size() < wanted && next < contenders.size()) {
      const bool late = spec.budget.seconds > 0 && clock.seconds() >= spec.budget.seconds;
      if (late && !valid.empty()) {
        break;
      }
      // A time budget is looked at between the chunks, so they are small then.
      const std::size_t chunk =
          spec.budget.seconds > 0 ? static_cast<std::size_t>(context.jobs) : wanted;
      const std::size_t count = std::min({wanted - valid.size(), contenders.size() - next, chunk});
      context.progress(
          fmt::format("validating {} to {} of {}", valid.size() + 1, valid.size() + count, wanted));
      if (Expected<void> done = validateChunk(std::span(contenders).subspan(next, count), valid);
          !done) {
        return done;
      }
      next += count;
    }
    contenders = std::move(valid);
    return {};
  }

  Expected<void> validateChunk(std::span<Contender> chunk, std::vector<Contender> &valid) {
    std::vector<Schedule> schedules;
    std::vector<RungOutcome> compiled;
    for (const Contender &contender : chunk) {
      schedules.push_back(contender.schedule);
      compiled.push_back(contender.compiled);
    }
    Expected<std::vector<RungOutcome>> outcomes = runner.validateAll(schedules, compiled);
    if (!outcomes) {
      return tl::unexpected(outcomes.error());
    }
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      RungOutcome &outcome = (*outcomes)[i];
      if (outcome.state != TrialState::ok) {
        note(outcome.state, outcome.error);
        continue;
      }
      chunk[i].validated = std::move(outcome);
      valid.push_back(std::move(chunk[i]));
    }
    return {};
  }

  Json candidateJson(const Contender &contender, std::size_t rank) const {
    const Estimate &best = contender.best();
    const Json &compiled = contender.compiled.value;
    const auto timeOrNull = [](const std::optional<Estimate> &estimate) {
      return estimate ? Json(estimate->timeUs) : Json();
    };
    const auto ofCompiler = [&](const char *key) {
      return compiled.contains(key) ? compiled[key] : Json();
    };
    return {{"rank", rank},
            {"schedule", print(contender.schedule)},
            {"time_us", best.timeUs},
            {"source", contender.byCompiler ? "compiled" : "model"},
            {"interval_us", {best.lowUs, best.highUs}},
            {"estimates",
             {{"model", contender.byModel.timeUs},
              {"compiled", timeOrNull(contender.byCompiler)},
              {"simulated", nullptr},
              {"measured", nullptr}}},
            {"limiter", name(best.limiter)},
            {"tflops", best.tflops},
            {"gbps", best.gbps},
            {"validated", spec.compiles()},
            {"max_rel", spec.compiles() ? contender.validated.value["max_rel"] : Json()},
            {"hsaco", ofCompiler("hsaco")},
            {"manifest", ofCompiler("manifest")},
            {"vgpr", ofCompiler("vgpr")},
            {"agpr", ofCompiler("agpr")},
            {"lds_bytes", ofCompiler("lds_bytes")},
            {"spills", ofCompiler("spills")}};
  }

  Json document() const {
    Json rejected = Json::object();
    for (const RuleCount &rule : count.rules) {
      rejected[std::string(rule.rule)] = rule.removed;
    }
    Json candidates = Json::array();
    for (const Contender &contender : contenders) {
      candidates.push_back(candidateJson(contender, candidates.size() + 1));
    }
    Json failed = Json::object();
    for (const auto &[state, n] : failures) {
      failed[state] = n;
    }
    return {{"problem", print(spec.problem)},
            {"target", spec.target->name},
            {"generator", name(spec.generator)},
            {"run", run.id},
            {"seed", spec.seed},
            {"strategy", spec.strategy},
            {"space",
             {{"legal", count.legal}, {"estimated", estimated}, {"rejected", std::move(rejected)}}},
            {"trials",
             {{"compiled", compiledCount},
              {"validated", spec.compiles() ? contenders.size() : 0},
              {"simulated", 0},
              {"measured", 0},
              {"failed", std::move(failed)}}},
            {"candidates", std::move(candidates)},
            {"bundle", nullptr},
            {"calibration", toJson(spec.calibration)},
            {"versions", versions()},
            {"seconds", clock.seconds()}};
  }

  const TuneSpec &spec;
  TuneContext &context;
  const RunRecord &run;
  Space space;
  Target calibrated; ///< what strategies estimate with: ranks are those of `model`
  CostModel model;
  RunClock clock;
  RungRunner runner;
  SpaceCount count;
  std::uint64_t estimated = 0, compiledCount = 0;
  std::vector<Contender> contenders;
  std::map<std::string, int> failures;
  std::string firstFailure;
};

/// The best candidate of a document.
Expected<BundleEntry> bundleEntry(const Json &document) {
  const Json &best = document["candidates"].front();
  const Expected<Problem> problem = parseProblem(document["problem"].get<std::string>());
  const Expected<Schedule> schedule = parseSchedule(best["schedule"].get<std::string>());
  auto calibration = calibrationOf(document);
  if (const Error *error = firstError(problem, schedule, calibration)) {
    return tl::unexpected(*error);
  }
  if (!best["manifest"].is_string()) {
    return badInput(fmt::format("{}: run {} ranked by the model alone, there is no kernel to "
                                "export; tune it with --rungs model,compiled",
                                print(*problem), document["run"].get<std::string>()));
  }
  if (!isCurrent(document)) {
    return badInput(fmt::format("{}: run {} is of an earlier version of kw, whose kernels this one "
                                "cannot prove; tune it again",
                                print(*problem), document["run"].get<std::string>()));
  }
  Expected<LoadedCodeObject> loaded = openCodeObject(best["manifest"].get<std::string>());
  if (!loaded) {
    return tl::unexpected(loaded.error());
  }
  BundleEntry entry{*problem, *schedule, std::move(loaded->object)};
  entry.calibration = std::move(*calibration);
  entry.timeUs = best["time_us"].get<double>();
  entry.source = best["source"].get<std::string>();
  entry.lowUs = best["interval_us"][0].get<double>();
  entry.highUs = best["interval_us"][1].get<double>();
  entry.limiter = best["limiter"].get<std::string>();
  if (entry.source == "measured") {
    entry.measuredUs = entry.timeUs;
  }
  entry.validated = best["validated"].get<bool>();
  entry.maxRel = best["max_rel"].is_number() ? best["max_rel"].get<double>() : 0;
  entry.seed = document["seed"].get<std::uint64_t>();
  return entry;
}

} // namespace

Expected<std::optional<Json>> finishedRun(Store &store, const RunRecord &run) {
  if (!run.done) {
    return std::nullopt;
  }
  Json document = Json::parse(run.document, nullptr, false);
  if (!isRunDocument(document)) {
    return std::nullopt;
  }
  for (Json &candidate : document["candidates"]) {
    if (!candidate["hsaco"].is_string() || !candidate["manifest"].is_string()) {
      continue;
    }
    // The store's files may have moved with it.
    for (const char *key : {"hsaco", "manifest"}) {
      const fs::path name = fs::path(candidate[key].get<std::string>()).filename();
      candidate[key] = (store.artifactFolder() / name).string();
    }
    if (!isIntactArtifact(candidate["hsaco"].get<std::string>()) ||
        !openCodeObject(candidate["manifest"].get<std::string>())) {
      return std::nullopt;
    }
  }
  return document;
}

Expected<Json> tune(const TuneSpec &spec, TuneContext &context) {
  const std::string id = runId(spec);
  Expected<std::optional<RunRecord>> found = context.store.findRun(id);
  if (!found) {
    return tl::unexpected(found.error());
  }
  RunRecord run;
  if (*found) {
    run = **found;
    Expected<std::optional<Json>> finished = finishedRun(context.store, run);
    if (!finished || *finished) {
      return finished ? Expected<Json>(std::move(**finished))
                      : Expected<Json>(tl::unexpected(finished.error()));
    }
    if (Expected<void> reopened = context.store.reopenRun(id); !reopened) {
      return tl::unexpected(reopened.error());
    }
    run.seconds = run.done ? 0 : run.seconds;
  } else {
    run.id = id;
    run.problem = print(spec.problem);
    run.target = std::string(spec.target->name);
    run.strategy = spec.strategy;
    run.seed = spec.seed;
    run.spec = printJson(toJson(spec));
    if (Expected<void> begun = context.store.beginRun(run); !begun) {
      return tl::unexpected(begun.error());
    }
  }
  Expected<Json> document = Tuning(spec, context, run)();
  if (document) {
    const double seconds = (*document)["seconds"].get<double>();
    if (Expected<void> finished = context.store.finishRun(id, printJson(*document), seconds);
        !finished) {
      return tl::unexpected(finished.error());
    }
  }
  return document;
}

bool isCurrent(const Json &document) { return document.value("versions", Json()) == versions(); }

Generator generatorOf(const Json &document) {
  // Documents of earlier versions are of our own kernels and don't say so.
  return parseGenerator(document.value("generator", "kw")).value_or(Generator::kw);
}

Expected<std::vector<LookupEntry>> lookupEntries(std::span<const Json> documents, int top) {
  std::vector<LookupEntry> entries;
  for (const Json &document : documents) {
    if (document.contains("error") || generatorOf(document) != Generator::triton) {
      continue;
    }
    const Expected<Problem> problem = parseProblem(document["problem"].get<std::string>());
    const Expected<ProblemCalibration> calibration = calibrationOf(document);
    if (!calibration) {
      return tl::unexpected(calibration.error());
    }
    int taken = 0;
    for (const Json &candidate : document["candidates"]) {
      const Expected<Schedule> schedule = parseSchedule(candidate["schedule"].get<std::string>());
      if (const Error *error = firstError(problem, schedule)) {
        return tl::unexpected(*error);
      }
      if (taken++ == top) {
        break;
      }
      entries.push_back({*problem, *schedule, candidate["time_us"].get<double>(),
                         candidate["source"].get<std::string>(),
                         candidate["interval_us"][0].get<double>(),
                         candidate["interval_us"][1].get<double>(),
                         candidate["limiter"].get<std::string>(), *calibration});
    }
  }
  return entries;
}

Expected<std::vector<BundleEntry>> bundleEntries(std::span<const Json> documents) {
  std::vector<BundleEntry> entries;
  std::set<std::string> exported; // a suite may name a problem twice
  for (const Json &document : documents) {
    if (document.contains("error") || generatorOf(document) != Generator::kw) {
      continue;
    }
    Expected<BundleEntry> entry = bundleEntry(document);
    if (!entry) {
      return tl::unexpected(entry.error());
    }
    if (exported.insert(print(entry->problem)).second) {
      entries.push_back(std::move(*entry));
    }
  }
  return entries;
}

} // namespace kw
