// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Problems on the command line and in suite files, and what options accept.
#pragma once

#include "ir/Problem.h"
#include "ir/support/Expected.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kw {

/// PROBLEM: its words, quoted together or not.
Expected<Problem> problemOf(const std::vector<std::string> &words);

/// PROBLEM...: each word without `=` begins a problem.
Expected<std::vector<Problem>> problemsOf(const std::vector<std::string> &words);

/// A suite file: one problem a line, `#` comments. Errors name file and line.
Expected<std::vector<Problem>> readSuite(const std::string &file);

// What options accept: an empty text or the rest of a sentence. CLI11's own numbers saturate and
// wrap, and its ranges hold nan.
using OptionCheck = std::function<std::string(const std::string &)>;

std::string notEmpty(const std::string &text);
/// Decimal, nothing beside it.
OptionCheck wholeNumber(std::int64_t lowest, std::int64_t highest);
OptionCheck numberWithin(double lowest, double highest);

} // namespace kw
