// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Launcher.h"

#include "experiments/kw/Command.h"
#include "experiments/kw/MatrixSumsOption.h"
#include "experiments/kw/Output.h"
#include "experiments/rungs/CodeObjectFiles.h"
#include "experiments/rungs/ValidatedRung.h"

#include <fmt/format.h>
#include <memory>

namespace kw {

namespace {

struct Options {
  std::string path, device = "emulated";
  bool strict = true;
  int schedules = 0;
  double limitSeconds = defaultLimitSeconds;
  std::vector<std::string> save;
  MatrixSums matrixSums = MatrixSums::inOrder;
};

Expected<SaveRequests> saveRequests(const std::vector<std::string> &words) {
  SaveRequests requests;
  for (const std::string &word : words) {
    const std::size_t sign = word.find('=');
    if (sign == std::string::npos || sign == 0) {
      return badInput(fmt::format("--save {}: expected BUFFER=FILE", word));
    }
    requests[word.substr(0, sign)] = word.substr(sign + 1);
  }
  return requests;
}

Json launchJson(const LaunchOutcome &outcome) {
  Json outputs = Json::array();
  for (const SavedBuffer &saved : outcome.outputs) {
    outputs.push_back({{"buffer", saved.buffer}, {"file", saved.file}, {"bytes", saved.bytes}});
  }
  return {{"ok", outcome.ok()},
          {"findings", findingsJson(outcome.run.findings)},
          {"instructions", outcome.run.instructions},
          {"waves", outcome.run.waves},
          {"seconds", outcome.run.seconds},
          {"outputs", std::move(outputs)}};
}

std::string launchText(const LaunchOutcome &outcome) {
  std::string text =
      fmt::format("{}: {} waves, {} instructions in {:.3f} s, {} findings\n",
                  outcome.ok() ? "ok" : "NOT OK", outcome.run.waves, outcome.run.instructions,
                  outcome.run.seconds, outcome.run.findings.size());
  for (const Finding &finding : outcome.run.findings) {
    text += fmt::format("{} at {:#x} of {} ({}): {}\n", finding.kind, finding.pc, finding.kernel,
                        finding.instruction, finding.detail);
  }
  for (const SavedBuffer &saved : outcome.outputs) {
    text += fmt::format("{}: {} bytes in {}\n", saved.buffer, saved.bytes, saved.file);
  }
  return text;
}

Expected<ExitStatus> run(const Options &options, const CommonOptions &common) {
  const Expected<LoadedCodeObject> loaded = openCodeObject(options.path);
  if (!loaded) {
    return tl::unexpected(loaded.error());
  }
  const Expected<std::unique_ptr<Device>> device = makeDevice(options.device, options.limitSeconds);
  if (!device) {
    return tl::unexpected(device.error());
  }
  Expected<SaveRequests> requests = saveRequests(options.save);
  if (!requests) {
    return tl::unexpected(requests.error());
  }
  const Expected<LaunchOutcome> outcome =
      launch(loaded->object, loaded->manifestFile.parent_path(), **device,
             {options.strict, common.seed, common.jobs, options.schedules, std::move(*requests),
              options.matrixSums});
  if (!outcome) {
    return tl::unexpected(outcome.error());
  }
  if (Expected<void> printed = print(common, launchJson(*outcome), launchText(*outcome));
      !printed) {
    return tl::unexpected(printed.error());
  }
  return outcome->ok() ? exitDone : exitFailed;
}

} // namespace

RunCommand addLaunch(CLI::App &app, const CommonOptions &common) {
  const auto options = std::make_shared<Options>();
  app.add_option("MANIFEST.json", options->path, "launch manifest")->required();
  app.add_option("--device", options->device, "emulated or hip")->capture_default_str();
  app.add_flag("--strict,!--no-strict", options->strict,
               "report what hardware does not forgive (default)");
  app.add_option("--limit", options->limitSeconds,
                 "hip: seconds for a copy or launch, or it counts as hung")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 1e6));
  app.add_option("--schedules", options->schedules,
                 "runs more under adversarial time whose outputs must be the same")
      ->check(CLI::Range(0, 10'000));
  app.add_option("--save", options->save,
                 "BUFFER=FILE: save a buffer anywhere; a manifest's `save` stays in its folder");
  addMatrixSums(app, options->matrixSums);
  return [options, &common] { return run(*options, common); };
}

} // namespace kw
