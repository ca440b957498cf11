// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "ir/support/Expected.h"

#include <string>
#include <vector>

namespace kw {

/// Runs a program, found through PATH, to its end; its output goes to stderr of this one. The
/// error: it can't be started, or its exit status isn't 0.
Expected<void> runProgram(const std::vector<std::string> &command);

} // namespace kw
