// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/kw/CalibrationInForce.h"

#include "costmodel/CostModel.h"
#include "costmodel/OwnCase.h"
#include "costmodel/calibration/Calibration.h"
#include "experiments/kw/Arguments.h"

#include <cstdio>
#include <filesystem>
#include <fmt/format.h>

namespace kw {

void addCalibrationOptions(CLI::App &app, CalibrationOptions &options) {
  app.add_option("--calibration", options.calibration, "shipped, none or a file")
      ->capture_default_str()
      ->check(notEmpty);
  app.add_option("--own-runs", options.ownRuns,
                 "runs of the store that refine it: all, none or the name of a device")
      ->capture_default_str()
      ->check(notEmpty);
}

namespace {

/// A fit of other formulas corrects errors that these don't make.
void warnOfOtherModel(std::string_view name, const Calibration &calibration) {
  const std::string_view fitted = calibration.fittedModel();
  if (!fitted.empty() && fitted != modelVersion()) {
    fmt::print(stderr,
               "kw: calibration {} was fitted to estimates of {}, these are {}: fit it anew "
               "with kw calibrate\n",
               name, fitted, modelVersion());
  }
}

} // namespace

Expected<CalibrationInForce> CalibrationInForce::load(const CalibrationOptions &options,
                                                      const CommonOptions &common,
                                                      const Target &target,
                                                      std::set<std::string> without) {
  auto calibration = loadCalibration(options.calibration);
  if (!calibration) {
    return tl::unexpected(calibration.error());
  }
  warnOfOtherModel(options.calibration, **calibration);
  CalibrationInForce result(options.calibration, std::move(*calibration));
  std::error_code ignored;
  if (options.ownRuns == "none" || !std::filesystem::exists(common.db, ignored)) {
    return result;
  }
  auto store = Store::open(common.db, Store::Access::read);
  if (!store) {
    return tl::unexpected(store.error());
  }
  const std::string device = options.ownRuns == "all" ? std::string() : options.ownRuns;
  auto runs = OwnRuns::read(*store, *result.calibration, {&target, device, std::move(without)});
  if (!runs) {
    return tl::unexpected(runs.error());
  }
  if (!device.empty() && runs->size() == 0) {
    return badInput(fmt::format("--own-runs {}: {} has no run of that device for {}", device,
                                store->file().string(), target.name));
  }
  result.runs = runs->size();
  if (runs->size() > 0) {
    result.refined = std::make_unique<OwnRunsCalibration>(*result.calibration, std::move(*runs));
  }
  return result;
}

ProblemCalibration CalibrationInForce::of(const Problem &problem, Generator generator,
                                          const Target &target) const {
  const std::size_t count = refined ? refined->countFor(ownCase(problem, generator)) : 0;
  return problemCalibration(problem, generator, target, fitted(), name, count);
}

} // namespace kw
