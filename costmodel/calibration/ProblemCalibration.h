// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a calibration says of one problem of our own generators, as plain values. A tuning run, a
// list of estimates and an exported row keep them: another calibration file, or runs of the user
// that came later, don't change what was said.
#pragma once

#include "costmodel/Features.h"
#include "costmodel/calibration/PhysicalConstants.h"
#include "ir/Generator.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kw {

struct ProblemCalibration final : Calibration {
  std::string name = "none"; ///< "shipped", "none", or the file
  std::size_t ownRuns = 0;   ///< of the user, which the correction has learnt from
  FittedConstants constants; ///< those that differ from the target's own
  Correction correction = uncalibrated().correct({});

  Target calibrated(const Target &target) const override { return constants.apply(target); }
  Correction correct(const ModelCase &) const override { return correction; }

  /// Neither a calibration nor runs of the user.
  bool isNone() const { return name == "none" && ownRuns == 0; }
};

ProblemCalibration problemCalibration(const Problem &problem, Generator generator,
                                      const Target &target, const Calibration &calibration,
                                      std::string name, std::size_t ownRuns = 0);

/// {name, own_runs, log, half_width, constants{target, values}}
nlohmann::ordered_json toJson(const ProblemCalibration &calibration);
/// Bad input: a key that is missing, a constant outside of its bounds.
Expected<ProblemCalibration> parseProblemCalibration(const nlohmann::json &json);

} // namespace kw
