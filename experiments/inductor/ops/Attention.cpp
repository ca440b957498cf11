// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/inductor/ops/Facts.h"

namespace kw {

/// Masks and what else the operator can't say are problems that it finds no kernel for.
nlohmann::ordered_json attentionFacts(const Attention &attention) {
  return {{"dtype", name(attention.type)},
          {"kvdtype", name(attention.kvType)},
          {"hq", attention.hq},
          {"hkv", attention.hkv},
          {"d", attention.d},
          {"dv", attention.dv},
          {"mask", attention.mask == MaskKind::causal ? "causal" : "none"},
          {"scale", static_cast<double>(static_cast<float>(attention.scale))},
          {"lse", attention.lse ? 1 : 0}};
}

} // namespace kw
