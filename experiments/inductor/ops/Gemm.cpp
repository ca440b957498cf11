// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/inductor/ops/Facts.h"

namespace kw {

nlohmann::ordered_json gemmFacts(const Gemm &gemm) {
  return {{"adtype", name(gemm.aType)},
          {"bdtype", name(gemm.bType)},
          {"out", name(gemm.outType)},
          {"n", gemm.n},
          {"k", gemm.k},
          {"a", gemm.aTransposed ? "km" : "mk"},
          {"b", gemm.bTransposed ? "nk" : "kn"},
          {"preshuffle", gemm.preshuffle ? 1 : 0},
          {"alpha", gemm.alpha},
          {"beta", gemm.beta},
          {"epilogue", gemm.epilogueText()}};
}

} // namespace kw
