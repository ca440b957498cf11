// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Problems on the command line and in suite files.
#pragma once

#include "ir/Problem.h"
#include "ir/support/Expected.h"

#include <string>
#include <vector>

namespace kw {

/// PROBLEM: its words, quoted together or not.
Expected<Problem> problemOf(const std::vector<std::string> &words);

/// PROBLEM...: each word without `=` begins a problem.
Expected<std::vector<Problem>> problemsOf(const std::vector<std::string> &words);

/// A suite file: one problem a line, `#` comments. Errors name file and line.
Expected<std::vector<Problem>> readSuite(const std::string &file);

/// The only generator there is so far; the error names it.
Expected<void> checkGenerator(const std::string &name);

} // namespace kw
