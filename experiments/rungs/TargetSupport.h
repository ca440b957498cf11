// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far a target is supported, asked before work begins: the model knows every target, code
// generation and the emulator do not. Refusals are bad input and one line.
#pragma once

#include "ir/Problem.h"
#include "ir/Target.h"
#include "ir/support/Expected.h"

namespace kw {

/// Whether kernels of the problem can be compiled for the target.
Expected<void> checkCompiles(const Problem &problem, const Target &target);

/// Whether the emulated device runs code for the target.
Expected<void> checkEmulates(const Target &target);

} // namespace kw
