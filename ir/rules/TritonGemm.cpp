// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of Inductor's Triton templates for GEMM.
#include "ir/rules/Rules.h"

namespace kw {

std::span<const Rule> tritonGemmRules() {
  static const std::vector<Rule> all{
      {"planned", 0, [](const Problem &, const Schedule &, const Target &) { return false; },
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("Triton's templates have no plan yet");
       }},
  };
  return all;
}

} // namespace kw
