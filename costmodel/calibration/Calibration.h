// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calibration files: what was fitted, from which data, with which errors. JSON; the format is in
// costmodel/README.md.
#pragma once

#include "costmodel/Features.h"
#include "ir/support/Expected.h"

#include <memory>
#include <string>
#include <string_view>

namespace kw {

/// `shipped`: the one that is compiled in; `none`: hardware facts alone; else a file.
/// Bad input: no such file, not a calibration, a version or feature that this program doesn't know.
Expected<std::unique_ptr<Calibration>> loadCalibration(std::string_view shippedNoneOrFile);

/// From text; `name` is for messages.
Expected<std::unique_ptr<Calibration>> parseCalibration(std::string_view json,
                                                        std::string_view name);

/// The text of the one that is compiled in.
std::string_view shippedCalibration();

} // namespace kw
