// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `kw runs`, `kw show RUN`, `kw resume RUN`: what a store knows.
#include "experiments/kw/Command.h"
#include "experiments/kw/Output.h"
#include "experiments/kw/TuneRuns.h"
#include "experiments/kw/TuneText.h"
#include "experiments/store/Store.h"
#include "experiments/support/FirstError.h"
#include "experiments/tune/RunDocument.h"
#include "experiments/tune/Tuner.h"

#include <fmt/format.h>
#include <memory>

namespace kw {

namespace {

Json textOrNull(const std::string &text) { return text.empty() ? Json() : Json(text); }

Json runJson(const RunRecord &run) {
  return {{"run", run.id},          {"problem", run.problem},
          {"target", run.target},   {"strategy", run.strategy},
          {"seed", run.seed},       {"state", run.done ? "done" : "interrupted"},
          {"started", run.started}, {"finished", textOrNull(run.finished)},
          {"seconds", run.seconds}};
}

/// The best candidate's schedule, time and source; nulls when the run is not done.
Json bestOf(const RunRecord &run) {
  const Json document = Json::parse(run.document, nullptr, false);
  if (!isRunDocument(document)) {
    return nullptr;
  }
  const Json &best = document["candidates"].front();
  return {{"schedule", best["schedule"]}, {"time_us", best["time_us"]}, {"source", best["source"]}};
}

Expected<ExitStatus> listRuns(const CommonOptions &common) {
  Expected<Store> store = Store::open(common.db, Store::Access::read);
  if (!store) {
    return tl::unexpected(store.error());
  }
  const Expected<std::vector<RunRecord>> runs = store->runs();
  if (!runs) {
    return tl::unexpected(runs.error());
  }
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows{
      {"run", "state", "started", "seconds", "best us", "source", "problem"}};
  for (const RunRecord &run : *runs) {
    const Json best = bestOf(run);
    list.push_back(runJson(run));
    list.back()["best"] = best;
    rows.push_back({run.id, run.done ? "done" : "interrupted", run.started,
                    fmt::format("{:.1f}", run.seconds),
                    best.is_null() ? "-" : fmt::format("{:.2f}", best["time_us"].get<double>()),
                    best.is_null() ? "-" : best["source"].get<std::string>(), run.problem});
  }
  if (Expected<void> printed = print(common, list, table(rows)); !printed) {
    return tl::unexpected(printed.error());
  }
  return exitDone;
}

Expected<RunRecord> requireRun(Store &store, const std::string &id) {
  Expected<std::optional<RunRecord>> run = store.findRun(id);
  if (!run) {
    return tl::unexpected(run.error());
  }
  if (!*run) {
    return badInput(fmt::format("run '{}': there is none in {}; `kw runs` lists them", id,
                                store.file().string()));
  }
  return std::move(**run);
}

Json trialJson(const TrialRecord &trial) {
  return {{"rung", name(trial.rung)},
          {"schedule", trial.schedule},
          {"state", name(trial.state)},
          {"error", textOrNull(trial.error)},
          {"seconds", trial.seconds}};
}

Expected<ExitStatus> showRun(const std::string &id, const CommonOptions &common) {
  Expected<Store> store = Store::open(common.db, Store::Access::read);
  if (!store) {
    return tl::unexpected(store.error());
  }
  const Expected<RunRecord> run = requireRun(*store, id);
  if (!run) {
    return tl::unexpected(run.error());
  }
  const Expected<std::vector<TrialRecord>> trials = store->trials(run->id);
  const Expected<std::optional<Json>> finished = finishedRun(*store, *run);
  if (const Error *error = firstError(trials, finished)) {
    return tl::unexpected(*error);
  }
  Json document = runJson(*run);
  const Json spec = Json::parse(run->spec, nullptr, false);
  document["spec"] = spec.is_discarded() ? Json() : spec;
  document["result"] = *finished ? **finished : Json();
  document["trials"] = Json::array();
  std::vector<std::vector<std::string>> rows{{"rung", "state", "at s", "schedule", "error"}};
  for (const TrialRecord &trial : *trials) {
    document["trials"].push_back(trialJson(trial));
    rows.push_back({std::string(name(trial.rung)), std::string(name(trial.state)),
                    fmt::format("{:.2f}", trial.seconds), trial.schedule, trial.error});
  }
  const std::string text =
      fmt::format("run {} ({}), {}\n{}{}", run->id, run->done ? "done" : "interrupted",
                  run->problem, *finished ? tuneText({**finished}) : "", table(rows));
  if (Expected<void> printed = print(common, document, text); !printed) {
    return tl::unexpected(printed.error());
  }
  return exitDone;
}

Expected<ExitStatus> resumeRun(const std::string &id, const CommonOptions &common) {
  if (Expected<Store> existing = Store::open(common.db, Store::Access::read); !existing) {
    return tl::unexpected(existing.error());
  }
  Expected<Store> store = Store::open(common.db, Store::Access::write);
  if (!store) {
    return tl::unexpected(store.error());
  }
  const Expected<RunRecord> run = requireRun(*store, id);
  if (!run) {
    return tl::unexpected(run.error());
  }
  const Expected<nlohmann::json> json = parseJson(run->spec, "run " + run->id);
  const Expected<TuneSpec> spec = json ? parseTuneSpec(*json) : tl::unexpected(json.error());
  if (!spec) {
    return tl::unexpected(spec.error());
  }
  if (runId(*spec) != run->id) {
    return badInput(fmt::format("run {} was begun by another version of kw; `kw tune {}` begins a "
                                "new one",
                                run->id, run->problem));
  }
  TuneRequest request;
  request.specs = {*spec};
  return tuneAll(request, *store, common);
}

using RunFunction = Expected<ExitStatus> (*)(const std::string &, const CommonOptions &);

RunCommand addOneRun(CLI::App &app, const CommonOptions &common, RunFunction function) {
  const auto id = std::make_shared<std::string>();
  app.add_option("RUN", *id, "its id or the start of it; `kw runs` lists them")->required();
  return [id, &common, function] { return function(*id, common); };
}

} // namespace

RunCommand addRuns(CLI::App &, const CommonOptions &common) {
  return [&common] { return listRuns(common); };
}

RunCommand addShow(CLI::App &app, const CommonOptions &common) {
  return addOneRun(app, common, showRun);
}

RunCommand addResume(CLI::App &app, const CommonOptions &common) {
  return addOneRun(app, common, resumeRun);
}

} // namespace kw
