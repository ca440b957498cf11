// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/ownruns/OwnRuns.h"

#include "costmodel/CostModel.h"
#include "costmodel/OwnCase.h"
#include "experiments/import/ImportedTimings.h"
#include "experiments/support/ProblemFiles.h"
#include "ir/Rule.h"

#include <algorithm>

namespace kw {
namespace {

/// Of timings that don't say where they were taken: that of every command.
constexpr std::string_view defaultTarget = "gfx950";

double timeOf(const Json &value) {
  const auto found = value.is_object() ? value.find("time_us") : value.end();
  return found != value.end() && found->is_number() ? found->get<double>() : 0;
}

/// What says of a run of ours which kernel ran, and where: `kw measure` in the value itself,
/// imports in their one kernel; null: nothing does.
const Json &kernelOf(const Json &value) {
  static const Json none;
  const auto kernels = value.is_object() ? value.find("kernels") : value.end();
  if (kernels == value.end()) {
    return value;
  }
  return kernels->is_array() && kernels->size() == 1 ? kernels->front() : none;
}

/// Target and device of a run of ours.
std::pair<std::string, std::string> placeOf(const StoredTiming &timing) {
  if (timing.measured) {
    const std::string arch = textOf(timing.value, "arch"); // gfx950:sramecc+:xnack-
    return {arch.substr(0, arch.find(':')), timing.device};
  }
  const Json &kernel = kernelOf(timing.value);
  const std::string target = textOf(kernel, "target");
  return {target.empty() ? std::string(defaultTarget) : target, textOf(kernel, "device")};
}

/// A run of a schedule: the case is that of its problem, with the analytic time of the schedule.
std::optional<ModelCase> caseOfSchedule(const Json &value, const Target &target,
                                        const Target &calibrated) {
  const auto problem = readProblem(textOf(value, "problem")); // with its files
  const auto schedule = parseSchedule(textOf(kernelOf(value), "schedule"));
  if (!problem || !schedule || !checkLegal(*problem, *schedule, target).empty()) {
    return std::nullopt;
  }
  ModelCase own = ownCase(*problem, kindOf(*schedule).generator);
  own.analytic = CostModel(*problem, calibrated).estimate(*schedule);
  own.kernel = print(*schedule);
  return own;
}

} // namespace

OwnRuns::OwnRuns(const Calibration &calibration, const Target &target)
    : target(&target), calibrated(calibration.calibrated(target)),
      foreign(std::make_unique<ForeignModel>(TermSet(), calibration)) {}

std::optional<OwnRuns::Pending> OwnRuns::pendingOf(const StoredTiming &timing,
                                                   const OwnRunsRequest &request) {
  const Json &value = timing.value;
  if (!(timeOf(value) > 0) || !textOf(value, "flags").empty()) {
    return std::nullopt;
  }
  const std::string problemText = textOf(value, "problem");
  if (problemText.empty() && !timing.measured) {
    const auto row = storedRow(value);
    const bool fits = row && (row->gfx.empty() ? defaultTarget : row->gfx) == request.target->name;
    if (!fits || !request.device.empty() ||
        (!request.without.empty() && request.without.contains(identityOf(*row)))) {
      return std::nullopt;
    }
    return Pending{value, true, familyOf(*row), groupOf(*row), false, std::nullopt};
  }
  const auto problem = parseProblem(problemText);
  if (!problem || textOf(kernelOf(value), "schedule").empty()) {
    return std::nullopt;
  }
  const auto [target, device] = placeOf(timing);
  if (target != request.target->name || (!request.device.empty() && device != request.device)) {
    return std::nullopt;
  }
  const ModelCase own = ownCase(*problem);
  return Pending{value, false, own.family, own.group, false, std::nullopt};
}

Expected<OwnRuns> OwnRuns::read(Store &store, const Calibration &calibration,
                                const OwnRunsRequest &request) {
  const auto timings = store.timings();
  if (!timings) {
    return tl::unexpected(timings.error());
  }
  OwnRuns runs(calibration, *request.target);
  for (const StoredTiming &timing : *timings) {
    if (auto pending = pendingOf(timing, request)) {
      runs.pending.push_back(std::move(*pending));
    }
  }
  return runs;
}

std::size_t OwnRuns::size(const std::string &family) const {
  return std::size_t(std::ranges::count(pending, family, &Pending::family));
}

const std::optional<OwnRun> &OwnRuns::model(Pending &run) {
  if (!run.modelled) {
    run.modelled = true;
    std::optional<ModelCase> modelCase;
    if (!run.published) {
      modelCase = caseOfSchedule(run.value, *target, calibrated);
    } else if (auto estimated = foreign->estimate(*storedRow(run.value))) {
      modelCase = std::move(*estimated);
    }
    if (modelCase && modelCase->analytic.timeUs > 0) {
      run.run = OwnRun{std::move(*modelCase), timeOf(run.value)};
    }
  }
  return run.run;
}

std::vector<OwnRun> OwnRuns::choose(const std::string &family, const std::string &group,
                                    std::size_t most) {
  std::vector<OwnRun> chosen;
  for (const bool own : {true, false}) {
    for (auto at = pending.rbegin(); at != pending.rend() && chosen.size() < most; ++at) {
      if (at->family == family && (at->group == group) == own) {
        if (const std::optional<OwnRun> &run = model(*at)) {
          chosen.push_back(*run);
        }
      }
    }
  }
  return chosen;
}

const OwnRunsCalibration::Refined &
OwnRunsCalibration::refinementOf(const ModelCase &modelCase) const {
  const bool all = runs.size(modelCase.family) <= Refinement::mostRuns;
  auto &refined = refinements[{modelCase.family, all ? std::string() : modelCase.group}];
  if (!refined) {
    const auto chosen = runs.choose(modelCase.family, modelCase.group, Refinement::mostRuns);
    refined.reset(new Refined{chosen.size(), Refinement(base, chosen)});
  }
  return *refined;
}

} // namespace kw
