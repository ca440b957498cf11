// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/trials/RunTrial.h"

#include "costmodel/CostModel.h"
#include "experiments/rungs/CodeObjectFiles.h"
#include "experiments/rungs/CompiledRung.h"
#include "experiments/rungs/ModelRung.h"
#include "experiments/rungs/TargetSupport.h"
#include "experiments/rungs/ValidatedRung.h"
#include "experiments/support/FirstError.h"
#include "experiments/support/ProblemFiles.h"
#include "ir/Rule.h"
#include "runtime/Device.h"

#include <algorithm>
#include <fmt/format.h>

namespace kw {

namespace {

/// What the request names, parsed.
struct Subject {
  Problem problem;
  Schedule schedule;
  const Target *target;
};

class Trialling {
public:
  Trialling(const TrialRequest &request, const std::filesystem::path &artifactFolder)
      : request(request), artifactFolder(artifactFolder) {
    answer.id = request.id;
  }

  TrialAnswer run() {
    if (std::optional<Subject> subject = parse()) {
      climb(*subject);
    }
    return std::move(answer);
  }

private:
  bool end(TrialState state, std::string error) {
    answer.state = state;
    answer.error = std::move(error);
    return false;
  }

  bool wants(Rung rung) const {
    return std::find(request.rungs.begin(), request.rungs.end(), rung) != request.rungs.end();
  }

  std::optional<Subject> parse() {
    const Expected<Problem> problem = readProblem(request.problem);
    const Expected<Schedule> schedule = parseSchedule(request.schedule);
    const Expected<const Target *> target = findTarget(request.target);
    if (const Error *error = firstError(problem, schedule, target)) {
      end(TrialState::failed, error->message);
      return std::nullopt;
    }
    const std::vector<Violation> violations = checkLegal(*problem, *schedule, **target);
    if (!violations.empty()) {
      end(TrialState::illegal,
          fmt::format("{}: {}", violations.front().rule, violations.front().message));
      return std::nullopt;
    }
    return Subject{*problem, *schedule, *target};
  }

  void climb(const Subject &subject) {
    for (const Rung rung : {Rung::simulated, Rung::measured}) {
      if (wants(rung)) {
        end(TrialState::failed, fmt::format("rung {} is not available yet", name(rung)));
        return;
      }
    }
    if (wants(Rung::model)) {
      CostModel model(subject.problem, *subject.target);
      answer.rungs["model"] = estimateJson(subject.problem, subject.schedule, *subject.target,
                                           model.estimate(subject.schedule));
    }
    const bool needsKernel =
        wants(Rung::compiled) || (wants(Rung::validated) && request.manifest.empty());
    std::filesystem::path manifest = request.manifest;
    if (needsKernel && !compileRung(subject, manifest)) {
      return;
    }
    if (wants(Rung::validated)) {
      validateRung(subject, manifest);
    }
  }

  bool compileRung(const Subject &subject, std::filesystem::path &manifest) {
    if (Expected<void> compiles = checkCompiles(subject.problem, *subject.target); !compiles) {
      return end(TrialState::compileFailed, compiles.error().message);
    }
    const Expected<Compiled> compiled = compile(subject.problem, subject.schedule, *subject.target);
    if (!compiled) {
      return end(TrialState::compileFailed, compiled.error().message);
    }
    const Expected<CompiledFiles> files = writeArtifact(*compiled, artifactFolder);
    if (!files) {
      return end(TrialState::failed, files.error().message);
    }
    Json json = compiledJson(subject.problem, subject.schedule, *compiled, *files);
    answer.hsaco = files->hsaco.string();
    manifest = files->manifest;
    const int spills = json["spills"].get<int>();
    answer.rungs["compiled"] = std::move(json);
    if (spills > 0) {
      return end(TrialState::spilled, fmt::format("{} registers spilled", spills));
    }
    return true;
  }

  void validateRung(const Subject &subject, const std::filesystem::path &manifest) {
    const Expected<LoadedCodeObject> loaded = openCodeObject(manifest);
    if (!loaded) {
      end(TrialState::failed, loaded.error().message);
      return;
    }
    const std::unique_ptr<Device> device = makeEmulatedDevice();
    ValidateOptions options;
    options.seed = request.seed;
    const Expected<Validation> validation =
        validate(loaded->object, *subject.target, *device, options);
    if (!validation) {
      end(TrialState::failed, validation.error().message);
      return;
    }
    answer.rungs["validated"] =
        validationJson(loaded->object.manifest.problem, device->name(), *validation);
    if (!validation->ok) {
      end(TrialState::wrong, whyInvalid(*validation));
    }
  }

  const TrialRequest &request;
  const std::filesystem::path &artifactFolder;
  TrialAnswer answer;
};

} // namespace

TrialAnswer runTrial(const TrialRequest &request, const std::filesystem::path &artifactFolder) {
  return Trialling(request, artifactFolder).run();
}

} // namespace kw
