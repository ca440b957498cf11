// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The few facts of a target that no data sheet gives and that a calibration may fit: between
// bounds that physics or sources set, and pulled towards the target file's own value.
#pragma once

#include "ir/Target.h"
#include "ir/support/Expected.h"

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace kw {

struct PhysicalConstant {
  std::string_view name, unit;
  double Target::*field;
  double least, most;
  double spread; ///< standard deviation of log(value / prior): how well the source knows it
  std::string_view bounds; ///< where the bounds come from
};
std::span<const PhysicalConstant> physicalConstants();

struct FittedConstants {
  std::string target; ///< name; others are left as they are
  std::map<std::string, double> values;

  Target apply(const Target &target) const;
};

/// Key `constants`, {target, values: {name: value}}; absent: nothing fitted. Bad input: an unknown
/// name, or a value outside of its bounds.
Expected<FittedConstants> parseConstants(const nlohmann::json &calibration);

} // namespace kw
