// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// beta * c and the steps of a GEMM's epilogue in double precision, with a bound on how far a kernel
// that computes them in f32 may be off. The bound is derived in runtime/README.md.
#pragma once

#include "ir/ops/Gemm.h"

#include <span>
#include <vector>

namespace kw {

/// Elements of the block that is computed, row-major; a bias has one row.
struct EpilogueInputs {
  std::vector<double> c;                ///< old contents; empty without beta
  std::vector<std::vector<double>> aux; ///< per step: bias, mul and add have one, the rest none
};

/// `value`: alpha * sum on entry, the result before its rounding on return. `error`: the bound,
/// likewise. `exact`: all inputs are integers, so that what stays an integer below 2^24 is exact.
void applyEpilogue(const Gemm &gemm, const EpilogueInputs &inputs, std::int64_t columns, bool exact,
                   std::span<double> value, std::span<double> error);

} // namespace kw
