// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/tune/RungRunner.h"

#include "codegen/Compile.h"
#include "experiments/rungs/CodeObjectFiles.h"
#include "experiments/rungs/CompiledRung.h"
#include "experiments/tune/RunDocument.h"
#include "ir/KernelPlan.h"
#include "runtime/Validator.h"

#include <algorithm>
#include <fmt/format.h>

namespace kw {

namespace fs = std::filesystem;

namespace {

std::string compiledKey(const TuneSpec &spec, const Schedule &schedule) {
  return fmt::format("{} | {} | {} | {}", printCompiledPart(spec.problem), print(schedule),
                     spec.target->name, compilerFingerprint());
}

std::string validatedKey(const TuneSpec &spec, const std::string &artifact) {
  return fmt::format("{} | {} | seed={} strict | {} | {}", artifact, print(spec.problem), spec.seed,
                     spec.device, validatorVersion());
}

/// A crash or a timeout may have come from outside, and a failure from a full disk: they are noted
/// with the trial, but are no fact about the schedule.
bool isFact(TrialState state) {
  return state != TrialState::crashed && state != TrialState::timeout &&
         state != TrialState::failed;
}

} // namespace

CompiledFacts compiledFacts(const Json &compiled) {
  CompiledFacts facts;
  facts.vgpr = compiled.value("vgpr", 0);
  facts.agpr = compiled.value("agpr", 0);
  facts.occupancy = compiled.value("occupancy", 0);
  facts.ldsBytes = compiled.value("lds_bytes", std::int64_t{0});
  const Json counts = compiled.value("instructions", Json::object());
  facts.mfma = counts.value("mfma", 0);
  facts.lds = counts.value("lds", 0);
  facts.vmem = counts.value("vmem", 0);
  facts.valu = counts.value("valu", 0);
  facts.salu = counts.value("salu", 0);
  return facts;
}

RungRunner::RungRunner(const TuneSpec &spec, std::string run, const RunClock &clock,
                       TuneContext &context)
    : spec(spec), run(std::move(run)), clock(clock), context(context) {
  Expected<std::vector<TrialRecord>> before = context.store.trials(this->run);
  if (!before) {
    storeError = before.error();
    return;
  }
  for (TrialRecord &trial : *before) {
    if (trial.state == TrialState::crashed || trial.state == TrialState::timeout) {
      lostBefore.emplace(std::pair(trial.rung, trial.schedule), std::move(trial));
    }
  }
}

fs::path RungRunner::manifestFile(const std::string &artifact) const {
  return artifactFiles(context.store.artifactFolder(), artifact, print(spec.problem)).manifest;
}

TrialRequest RungRunner::request(const Schedule &schedule, Rung rung) const {
  TrialRequest request;
  request.problem = print(spec.problem);
  request.schedule = print(schedule);
  request.target = std::string(spec.target->name);
  request.rungs = {rung};
  request.seed = spec.seed;
  request.limits = context.limits;
  return request;
}

Expected<std::vector<RungOutcome>> RungRunner::compileAll(std::span<const Schedule> schedules) {
  std::vector<Job> jobs;
  for (const Schedule &schedule : schedules) {
    jobs.push_back(
        {Rung::compiled, compiledKey(spec, schedule), request(schedule, Rung::compiled), ""});
  }
  return runAll(jobs);
}

Expected<std::vector<RungOutcome>> RungRunner::validateAll(std::span<const Schedule> schedules,
                                                           std::span<const RungOutcome> compiled) {
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    const std::string &artifact = compiled[i].artifact;
    jobs.push_back({Rung::validated, validatedKey(spec, artifact),
                    request(schedules[i], Rung::validated), artifact});
    jobs.back().request.manifest = manifestFile(artifact).string();
  }
  return runAll(jobs);
}

Expected<bool> RungRunner::restoreFiles(RungOutcome &outcome, const std::string &scheduleText) {
  const CompiledFiles files =
      artifactFiles(context.store.artifactFolder(), outcome.artifact, print(spec.problem));
  if (!isIntactArtifact(files.hsaco)) {
    return false;
  }
  if (!openCodeObject(files.manifest)) { // compiled for another m, or damaged
    const Expected<Schedule> schedule = parseSchedule(scheduleText);
    if (!schedule) {
      return tl::unexpected(schedule.error());
    }
    const Manifest manifest =
        makeManifest(spec.problem, *schedule, *spec.target, files.hsaco.filename().string());
    if (Expected<void> written = writeManifest(manifest, outcome.artifact, files.manifest);
        !written) {
      return tl::unexpected(written.error());
    }
  }
  outcome.value["hsaco"] = files.hsaco.string();
  outcome.value["manifest"] = files.manifest.string();
  return true;
}

Expected<std::optional<RungOutcome>> RungRunner::known(const Job &job) {
  const Expected<std::optional<ResultRecord>> found = context.store.findResult(job.rung, job.key);
  if (!found) {
    return tl::unexpected(found.error());
  }
  if (*found) {
    if ((*found)->state == TrialState::ok && !isResultValue(job.rung, (*found)->value)) {
      return std::nullopt; // damaged: made again
    }
    RungOutcome outcome{(*found)->state, (*found)->error, (*found)->value, (*found)->artifact};
    if (job.rung == Rung::compiled && !outcome.artifact.empty()) {
      const Expected<bool> complete = restoreFiles(outcome, job.request.schedule);
      if (!complete) {
        return tl::unexpected(complete.error());
      }
      if (!*complete) {
        return std::nullopt;
      }
    }
    return outcome;
  }
  const auto lost = lostBefore.find({job.rung, job.request.schedule});
  if (lost != lostBefore.end()) {
    return RungOutcome{lost->second.state, lost->second.error, Json::object(), job.artifact};
  }
  return std::nullopt;
}

Expected<RungOutcome> RungRunner::keep(const Job &job, const TrialAnswer &answer) {
  RungOutcome outcome{answer.state, answer.error, Json::object(), job.artifact};
  const auto value = answer.rungs.find(std::string(name(job.rung)));
  if (value != answer.rungs.end()) {
    outcome.value = *value;
  }
  std::optional<ResultRecord> result;
  if (isFact(answer.state)) {
    result.emplace(ResultRecord{job.rung, job.key, answer.state, answer.error, outcome.value});
    if (job.rung == Rung::compiled && !answer.hsaco.empty()) {
      outcome.artifact = fs::path(answer.hsaco).stem().string();
      std::error_code code;
      result->artifactBytes = static_cast<std::int64_t>(fs::file_size(answer.hsaco, code));
      result->artifact = outcome.artifact;
      // The result holds for every m: what depends on it is made again when it is read.
      for (const char *key : {"problem", "hsaco", "manifest"}) {
        result->value.erase(key);
      }
    }
  }
  const TrialRecord trial{run,          job.rung,     job.request.schedule,
                          answer.state, answer.error, clock.seconds()};
  if (Expected<void> recorded = context.store.record(trial, result); !recorded) {
    return tl::unexpected(recorded.error());
  }
  return outcome;
}

Expected<std::vector<RungOutcome>> RungRunner::runAll(std::span<const Job> jobs) {
  if (storeError) {
    return tl::unexpected(*storeError);
  }
  std::vector<RungOutcome> outcomes(jobs.size());
  std::vector<TrialRequest> requests;
  std::vector<std::size_t> positions; // of the requests in `jobs`
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Expected<std::optional<RungOutcome>> before = known(jobs[i]);
    if (!before) {
      return tl::unexpected(before.error());
    }
    if (*before) {
      outcomes[i] = std::move(**before);
      continue;
    }
    positions.push_back(i);
    requests.push_back(jobs[i].request);
    requests.back().id = std::to_string(i);
  }
  const auto done = [&](std::size_t index, const TrialAnswer &answer) -> Expected<void> {
    const std::size_t position = positions[index];
    Expected<RungOutcome> kept = keep(jobs[position], answer);
    if (!kept) {
      return tl::unexpected(kept.error());
    }
    outcomes[position] = std::move(*kept);
    return {};
  };
  const Expected<bool> complete = context.pool.run(requests, done, context.stop);
  if (!complete) {
    return tl::unexpected(complete.error());
  }
  if (!*complete) {
    return failed("interrupted; what was done is kept, the same command resumes");
  }
  return outcomes;
}

CompiledEvaluator::CompiledEvaluator(const TuneSpec &spec, RungRunner &runner)
    : spec(spec), runner(runner), model(spec.problem, *spec.target, spec.calibration) {}

std::vector<Trial> CompiledEvaluator::evaluate(std::span<const Schedule> schedules) {
  Expected<std::vector<RungOutcome>> outcomes = runner.compileAll(schedules);
  if (!outcomes) {
    failure = outcomes.error();
    return {};
  }
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    RungOutcome &outcome = (*outcomes)[i];
    Trial trial{schedules[i], outcome.state, outcome.error};
    trial.source = Rung::compiled;
    if (outcome.state == TrialState::ok) {
      trial.timeUs = model.estimate(schedules[i], compiledFacts(outcome.value)).timeUs;
    }
    trials.push_back(std::move(trial));
    compiled[print(schedules[i])] = std::move(outcome);
  }
  return trials;
}

} // namespace kw
