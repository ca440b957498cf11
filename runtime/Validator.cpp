// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Validator.h"

#include "ir/Generator.h"
#include "ir/KernelPlan.h"
#include "ir/ManifestDifference.h"
#include "runtime/Launcher.h"
#include "runtime/validation/ProofCase.h"
#include "runtime/validation/Sampling.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace kw {
namespace {

/// Operations of a problem, at most, for which all workgroups are run (per input set).
constexpr double smallProblem = 1e9;
/// Operations of a sample of a larger problem, at most, beyond one workgroup of each kind.
constexpr double sampleWork = 1.5e9;
/// Workgroups of a sample, at most, however small they are.
constexpr double largestSample = 64;
/// Operations of a neighbouring problem, at most, for which all workgroups are run.
constexpr double neighbourWork = 3e8;

std::vector<std::uint64_t> allWorkgroups(const LaunchPlan &launch) {
  std::vector<std::uint64_t> ids(static_cast<std::size_t>(launch.workgroups));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

class Proof {
public:
  Proof(const CodeObject &object, const Target &target, Device &device,
        const ValidateOptions &options)
      : object(object), target(target), device(device), options(options) {}

  Expected<Validation> run() {
    if (Expected<void> read = readManifest(); !read) {
      return tl::unexpected<Error>(read.error());
    }
    if (options.schedules > 0 && device.name() != "emulated") {
      return badInput(fmt::format("the {} device has no say in its timing: schedules need the "
                                  "emulated one",
                                  device.name()));
    }
    if (options.matrixSums != MatrixSums{} && device.name() != "emulated") {
      return badInput(
          fmt::format("the {} device adds as its hardware does: grouped matrix sums need "
                      "the emulated one",
                      device.name()));
    }
    if (Expected<void> proven = proveProblem(); !proven) {
      return tl::unexpected<Error>(proven.error());
    }
    if (Expected<void> proven = proveNeighbours(); !proven) {
      return tl::unexpected<Error>(proven.error());
    }
    result.ok = result.findings.empty();
    result.gflops = result.seconds > 0 ? matrixFlops / result.seconds * 1e-9 : 0;
    return std::move(result);
  }

private:
  Expected<void> readManifest();
  Expected<void> proveProblem();
  void checkNumbers();
  Expected<void> proveNeighbours();
  Expected<void> proveNeighbour(const Problem &neighbour);
  bool admits(const Problem &neighbour) const;
  /// Adds findings and costs of a case.
  Expected<Observation> observe(const ProofCase &proofCase, const InputSet &set,
                                const std::vector<std::uint64_t> &workgroups,
                                const std::vector<Timing> &underTimings = {});

  const CodeObject &object;
  const Target &target;
  Device &device;
  const ValidateOptions &options;
  Problem problem;
  Schedule schedule;
  std::vector<std::vector<Problem>> neighbours;
  Validation result;
  double matrixFlops = 0;
};

Expected<void> Proof::readManifest() {
  const Manifest &manifest = object.manifest;
  if (manifest.problem.empty() || manifest.schedule.empty()) {
    return badInput("the manifest names no problem and schedule: not a kernel of ours, `launch` "
                    "runs it");
  }
  if (!manifest.target.empty() && manifest.target != target.name) {
    return badInput(
        fmt::format("the code object is for target '{}', not '{}'", manifest.target, target.name));
  }
  Expected<Problem> parsedProblem = parseProblem(manifest.problem);
  if (!parsedProblem) {
    return tl::unexpected<Error>(parsedProblem.error());
  }
  Expected<Schedule> parsedSchedule = parseSchedule(manifest.schedule);
  if (!parsedSchedule) {
    return tl::unexpected<Error>(parsedSchedule.error());
  }
  problem = *parsedProblem;
  schedule = *parsedSchedule;
  if (kindOf(schedule) != ScheduleKind(problem.family())) {
    return badInput(fmt::format("the manifest's schedule '{}' is not for a {}", manifest.schedule,
                                name(problem.family())));
  }
  return checkGuards(manifest);
}

Expected<Observation> Proof::observe(const ProofCase &proofCase, const InputSet &set,
                                     const std::vector<std::uint64_t> &workgroups,
                                     const std::vector<Timing> &underTimings) {
  Expected<Observation> seen =
      underTimings.empty() ? proofCase.run(device, set, workgroups, options)
                           : proofCase.runUnder(device, set, workgroups, options, underTimings);
  if (seen) {
    result.findings.insert(result.findings.end(), seen->findings.begin(), seen->findings.end());
    result.seconds += seen->seconds;
    matrixFlops += seen->matrixFlops;
  }
  return seen;
}

Expected<void> Proof::proveProblem() {
  Expected<ProofCase> proofCase = ProofCase::make(object, problem, schedule, target);
  if (!proofCase) {
    return tl::unexpected<Error>(proofCase.error());
  }
  if (checkNumbers(); !result.findings.empty()) {
    return {};
  }
  const Oracle &oracle = proofCase->oracle();
  const LaunchPlan &launch = proofCase->mainLaunch();
  neighbours = oracle.neighbours();
  result.tolerance = oracle.tolerance();
  result.total = proofCase->outputElements();
  const double work = oracle.workPerWorkgroup();
  const bool all = options.full || work * static_cast<double>(launch.workgroups) <= smallProblem;
  // Workgroups that run with each that is drawn.
  const auto group = static_cast<double>(oracle.needed({0}).front().size());
  const double most = std::min(largestSample, sampleWork / (work * group));
  const std::vector<std::uint64_t> workgroups =
      all ? allWorkgroups(launch)
          : sampleWorkgroups(launch, static_cast<std::size_t>(most), options.seed);
  std::vector<InputSet> sets = oracle.inputSets(options.seed);
  std::reverse(sets.begin(), sets.end()); // the exact one is the sharpest and the cheapest
  std::vector<Timing> underTimings = timings(options.schedules, options.seed);
  for (const InputSet &set : sets) {
    if (!result.findings.empty()) {
      break;
    }
    Expected<Observation> seen =
        observe(*proofCase, set, workgroups, std::exchange(underTimings, {}));
    if (!seen) {
      return tl::unexpected<Error>(seen.error());
    }
    result.checked = std::max(result.checked, seen->checked);
    result.maxAbs = std::max(result.maxAbs, seen->maxAbs);
    result.maxRel = std::max(result.maxRel, seen->maxRel);
  }
  return {};
}

/// A wrong size may do no harm to the problem at hand: it is wrong all the same.
void Proof::checkNumbers() {
  const Manifest truth = makeManifest(problem, schedule, target, object.manifest.codeObject);
  if (std::string other = firstOtherNumber(object.manifest, truth); !other.empty()) {
    Finding finding;
    finding.kind = "manifest";
    finding.detail = std::move(other);
    result.findings.push_back(std::move(finding));
  }
}

bool Proof::admits(const Problem &neighbour) const {
  if (neighbour == problem || printCompiledPart(neighbour) != printCompiledPart(problem)) {
    return false;
  }
  Manifest manifest = object.manifest;
  manifest.problem = print(neighbour);
  return checkGuards(manifest).has_value();
}

Expected<void> Proof::proveNeighbours() {
  for (const std::vector<Problem> &alternatives : neighbours) {
    if (!result.findings.empty()) {
      break;
    }
    const auto admitted = std::find_if(alternatives.begin(), alternatives.end(),
                                       [&](const Problem &neighbour) { return admits(neighbour); });
    if (admitted == alternatives.end()) {
      continue;
    }
    if (Expected<void> proven = proveNeighbour(*admitted); !proven) {
      return proven;
    }
  }
  return {};
}

Expected<void> Proof::proveNeighbour(const Problem &neighbour) {
  CodeObject other;
  other.hsaco = object.hsaco;
  other.manifest = makeManifest(neighbour, schedule, target, object.manifest.codeObject);
  Expected<ProofCase> proofCase = ProofCase::make(other, neighbour, schedule, target);
  if (!proofCase) {
    return tl::unexpected<Error>(proofCase.error());
  }
  const Oracle &oracle = proofCase->oracle();
  const LaunchPlan &launch = proofCase->mainLaunch();
  const bool all =
      oracle.workPerWorkgroup() * static_cast<double>(launch.workgroups) <= neighbourWork;
  const std::vector<std::uint64_t> workgroups =
      all ? allWorkgroups(launch) : std::vector<std::uint64_t>{cornerWorkgroup(launch)};
  const std::vector<InputSet> sets = oracle.inputSets(options.seed);
  for (auto set = sets.begin() + 1; set != sets.end() && result.findings.empty(); ++set) {
    Expected<Observation> seen = observe(*proofCase, *set, workgroups);
    if (!seen) {
      return tl::unexpected<Error>(seen.error());
    }
  }
  return {};
}

} // namespace

Expected<Validation> validate(const CodeObject &object, const Target &target, Device &device,
                              const ValidateOptions &options) {
  return Proof(object, target, device, options).run();
}

std::string_view validatorVersion() { return "2"; }

} // namespace kw
