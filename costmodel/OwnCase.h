// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A problem of our own generators as a calibration sees it: what it has in common with other runs.
// No schedule: so that a correction of ours is one factor a problem.
#pragma once

#include "costmodel/Features.h"
#include "ir/Generator.h"
#include "ir/Problem.h"

namespace kw {

/// `analytic` is a time of 1 us; the features are the size alone (rows), the rest is unknown.
ModelCase ownCase(const Problem &problem, Generator generator = Generator::kw);

} // namespace kw
