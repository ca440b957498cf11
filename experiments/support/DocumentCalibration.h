// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calibration that a document says its times rest on.
#pragma once

#include "costmodel/calibration/ProblemCalibration.h"
#include "experiments/support/Json.h"

namespace kw {

/// Under the key "calibration". Documents of earlier versions rest on none and don't say so.
inline Expected<ProblemCalibration> calibrationOf(const Json &document) {
  const auto found = document.find("calibration");
  return found == document.end() ? ProblemCalibration() : parseProblemCalibration(*found);
}

} // namespace kw
