// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row of kernels.json. Everything in it but the prediction follows from problem, schedule,
// target and code object, so that a check makes the row again and compares.
#pragma once

#include "experiments/inductor/Bundle.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace kw {

nlohmann::ordered_json kernelRow(const BundleEntry &entry, const Target &target);

/// Name of the file of an entry's code object, in kernels/.
std::string codeObjectFile(const BundleEntry &entry);

/// Where two documents first differ, as "args[2].offset: 24, not 16"; empty: they are equal.
/// `claimed` is the one that may lie.
std::string firstDifference(const nlohmann::ordered_json &claimed,
                            const nlohmann::ordered_json &truth, const std::string &path = "");

} // namespace kw
