// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Brings schedules of one problem to a rung: what the store knows is not done again, the rest runs
// as trials in the pool, and each answer is stored before the next trial starts.
#pragma once

#include "costmodel/CostModel.h"
#include "experiments/store/Store.h"
#include "experiments/trials/TrialPool.h"
#include "experiments/tune/TuneSpec.h"
#include "search/Evaluator.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>

namespace kw {

/// What a call of `tune` brings along; nothing in it changes the outcome.
struct TuneContext {
  Store &store;
  TrialPool &pool;
  int jobs = 1;
  TrialLimits limits;
  std::function<void(const std::string &)> progress; ///< one status line; never empty
  const std::atomic<bool> *stop = nullptr;
};

/// Wall clock of a run over all calls that worked on it.
class RunClock {
public:
  explicit RunClock(double spentBefore) : spentBefore(spentBefore) {}
  double seconds() const {
    return spentBefore +
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

private:
  double spentBefore;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

struct RungOutcome {
  TrialState state = TrialState::ok;
  std::string error;
  Json value = Json::object(); ///< the rung's JSON, paths included
  std::string artifact;        ///< sha256 of the HSACO
};

class RungRunner {
public:
  RungRunner(const TuneSpec &spec, std::string run, const RunClock &clock, TuneContext &context);

  /// One outcome a schedule, in their order. An error is a store or pool that failed, or the
  /// interruption by `stop`.
  Expected<std::vector<RungOutcome>> compileAll(std::span<const Schedule> schedules);
  /// Of schedules that compiled before.
  Expected<std::vector<RungOutcome>> validateAll(std::span<const Schedule> schedules,
                                                 std::span<const RungOutcome> compiled);

  /// Manifest of a compiled schedule for this problem.
  std::filesystem::path manifestFile(const std::string &artifact) const;

private:
  struct Job {
    Rung rung;
    std::string key;      ///< of the store
    TrialRequest request; ///< `request.schedule` identifies the trial within the run
    std::string artifact; ///< of the schedule, if it is known already
  };
  Expected<std::vector<RungOutcome>> runAll(std::span<const Job> jobs);
  Expected<std::optional<RungOutcome>> known(const Job &job);
  Expected<RungOutcome> keep(const Job &job, const TrialAnswer &answer);
  /// False: the HSACO of a result is gone or damaged.
  Expected<bool> restoreFiles(RungOutcome &outcome, const std::string &schedule);
  TrialRequest request(const Schedule &schedule, Rung rung) const;

  const TuneSpec &spec;
  std::string run;
  const RunClock &clock;
  TuneContext &context;
  /// Trials of earlier calls that left no result to reuse: crashed or timed out.
  std::map<std::pair<Rung, std::string>, TrialRecord> lostBefore;
  std::optional<Error> storeError;
};

/// The `compiled` rung as the search sees it. Times are the model's, with the compiled kernel's
/// registers and occupancy in place of expected ones.
class CompiledEvaluator : public Evaluator {
public:
  CompiledEvaluator(const TuneSpec &spec, RungRunner &runner);

  std::vector<Trial> evaluate(std::span<const Schedule> schedules) override;

  /// Why `evaluate` answered nothing.
  const std::optional<Error> &error() const { return failure; }
  /// Of the schedules evaluated so far, by text.
  const std::map<std::string, RungOutcome> &outcomes() const { return compiled; }

private:
  const TuneSpec &spec;
  RungRunner &runner;
  CostModel model;
  std::optional<Error> failure;
  std::map<std::string, RungOutcome> compiled;
};

/// The compiler's view of a kernel from the JSON of the compiled rung.
CompiledFacts compiledFacts(const Json &compiled);

} // namespace kw
