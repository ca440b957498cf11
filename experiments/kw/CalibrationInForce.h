// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the estimates of a call rest on: `--calibration` and the user's own runs in the store, the
// same options for every command that estimates.
#pragma once

#include "costmodel/calibration/ProblemCalibration.h"
#include "experiments/kw/Command.h"
#include "experiments/ownruns/OwnRuns.h"

#include <memory>
#include <string>

namespace kw {

struct CalibrationOptions {
  std::string calibration = "shipped";
  std::string ownRuns = "all"; ///< "none", or the name of a device
};

void addCalibrationOptions(CLI::App &app, CalibrationOptions &options);

class CalibrationInForce {
public:
  /// A store that isn't there has no runs. `without`: identities of runs that don't count.
  static Expected<CalibrationInForce> load(const CalibrationOptions &options,
                                           const CommonOptions &common, const Target &target,
                                           std::set<std::string> without = {});

  /// With the runs on top.
  const Calibration &fitted() const { return refined ? *refined : *calibration; }
  std::size_t ownRuns() const { return runs; }
  /// What it says of one problem of our own generators.
  ProblemCalibration of(const Problem &problem, Generator generator, const Target &target) const;

private:
  CalibrationInForce(std::string name, std::unique_ptr<Calibration> calibration)
      : name(std::move(name)), calibration(std::move(calibration)) {}

  std::string name;
  std::unique_ptr<Calibration> calibration;
  std::size_t runs = 0;
  std::unique_ptr<OwnRunsCalibration> refined; ///< none: no runs
};

} // namespace kw
