// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Problems whose keys name files: `routing=file:PATH` of grouped products, `varlen=PATH` and
// `mask=document:PATH` of attention. The text of a problem keeps the path; ir never opens it, who
// runs the problem does.
#pragma once

#include "ir/Problem.h"

#include <string_view>

namespace kw {

/// parseProblem, then the files that it names. Errors name the file and what is expected in it.
Expected<Problem> readProblem(std::string_view text);

} // namespace kw
