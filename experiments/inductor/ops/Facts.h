// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a torch operator must find equal before it uses a kernel: the compiled-in part of the
// problem, under the names that kernelwright/ops/FAMILY.py gives. One file a family.
#pragma once

#include "ir/Problem.h"

#include <nlohmann/json.hpp>

namespace kw {

nlohmann::ordered_json gemmFacts(const Gemm &gemm);
nlohmann::ordered_json rmsNormFacts(const RmsNorm &norm);
nlohmann::ordered_json attentionFacts(const Attention &attention);

nlohmann::ordered_json operatorFacts(const Problem &problem);

} // namespace kw
