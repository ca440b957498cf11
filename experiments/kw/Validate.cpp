// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/kw/Command.h"
#include "experiments/kw/MatrixSumsOption.h"
#include "experiments/kw/Output.h"
#include "experiments/rungs/CodeObjectFiles.h"
#include "experiments/rungs/ValidatedRung.h"
#include "runtime/Validator.h"

#include <fmt/format.h>
#include <memory>

namespace kw {

namespace {

struct Options {
  std::string path, device = "emulated";
  bool strict = true, full = false;
  int schedules = 0;
  double limitSeconds = defaultLimitSeconds;
  MatrixSums matrixSums = MatrixSums::inOrder;
};

std::string validationText(const Validation &validation, const std::string &problem,
                           std::string_view device) {
  return fmt::format("{}: {} on the {} device, {} of {} elements checked, relative error {:.3g} of "
                     "{:.3g} allowed, {} findings{}\n",
                     problem, validation.ok ? "valid" : "NOT VALID", device, validation.checked,
                     validation.total, validation.maxRel, validation.tolerance,
                     validation.findings.size(),
                     validation.ok ? "" : "\n" + whyInvalid(validation));
}

Expected<ExitStatus> run(const Options &options, const CommonOptions &common) {
  const Expected<LoadedCodeObject> loaded = openCodeObject(options.path);
  if (!loaded) {
    return tl::unexpected(loaded.error());
  }
  const Manifest &manifest = loaded->object.manifest;
  if (manifest.problem.empty() || manifest.schedule.empty()) {
    return badInput(fmt::format("{}: names no problem and schedule, so there is nothing to compare "
                                "with; `kw launch` runs it",
                                loaded->manifestFile.string()));
  }
  const Expected<const Target *> target =
      manifest.target.empty() ? common.target() : findTarget(manifest.target);
  if (!target) {
    return tl::unexpected(target.error());
  }
  const Expected<std::unique_ptr<Device>> device = makeDevice(options.device, options.limitSeconds);
  if (!device) {
    return tl::unexpected(device.error());
  }
  const ValidateOptions validateOptions{options.strict, options.full,      common.seed,
                                        common.jobs,    options.schedules, options.matrixSums};
  Expected<Validation> validation = validate(loaded->object, **target, **device, validateOptions);
  if (!validation) {
    return tl::unexpected(validation.error());
  }
  if (std::string lie = foreignHash(*loaded); !lie.empty()) {
    Finding finding;
    finding.kind = "provenance";
    finding.detail = std::move(lie);
    validation->findings.push_back(std::move(finding));
    validation->ok = false;
  }
  const Json document = validationJson(manifest.problem, (*device)->name(), *validation);
  const std::string text = validationText(*validation, manifest.problem, (*device)->name());
  if (Expected<void> printed = print(common, document, text); !printed) {
    return tl::unexpected(printed.error());
  }
  return validation->ok ? exitDone : exitFailed;
}

} // namespace

RunCommand addValidate(CLI::App &app, const CommonOptions &common) {
  const auto options = std::make_shared<Options>();
  app.add_option("DIR|FILE.json", options->path, "launch manifest, or the folder with one")
      ->required();
  app.add_option("--device", options->device, "emulated or hip")->capture_default_str();
  app.add_flag("--strict,!--no-strict", options->strict,
               "report what hardware does not forgive (default)");
  app.add_flag("--full", options->full, "check every output element");
  app.add_option("--limit", options->limitSeconds,
                 "hip: seconds for a copy or launch, or it counts as hung")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 1e6));
  app.add_option("--schedules", options->schedules,
                 "runs more under adversarial time whose outputs must be the same")
      ->check(CLI::Range(0, 10'000));
  addMatrixSums(app, options->matrixSums);
  return [options, &common] { return run(*options, common); };
}

} // namespace kw
