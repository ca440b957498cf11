// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel's rows in kernels.json and bundle.json. All in them follows from problem, schedule,
// target, code object and the seed of its validation, so that a check makes them again and
// compares.
#pragma once

#include "experiments/inductor/Bundle.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace kw {

nlohmann::ordered_json kernelRow(const BundleEntry &entry, const Target &target);

/// The row of `problems` in bundle.json.
nlohmann::ordered_json problemRow(const BundleEntry &entry);

/// Name of the file of an entry's code object, in kernels/.
std::string codeObjectFile(const BundleEntry &entry);

/// Where two documents first differ, as "args[2].offset: 24, not 16"; empty: they are equal.
/// `claimed` is the one that may lie.
std::string firstDifference(const nlohmann::ordered_json &claimed,
                            const nlohmann::ordered_json &truth, const std::string &path = "");

} // namespace kw
