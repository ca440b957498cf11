// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/inductor/ops/Facts.h"

namespace kw {

nlohmann::ordered_json operatorFacts(const Problem &problem) {
  switch (problem.family()) {
  case Family::gemm:
    return gemmFacts(problem.gemm());
  case Family::rmsnorm:
    return rmsNormFacts(problem.rmsnorm());
  case Family::attention:
    return attentionFacts(problem.attention());
  case Family::groupedGemm:
  case Family::topk:
    break; // never compiled, so never exported
  }
  return {};
}

} // namespace kw
