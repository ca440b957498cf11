// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/inductor/ops/Facts.h"

namespace kw {

nlohmann::ordered_json rmsNormFacts(const RmsNorm &norm) {
  return {{"dtype", name(norm.type)},
          {"out", name(norm.outType)},
          {"cols", norm.cols},
          {"weight", norm.weight ? 1 : 0},
          {"residual", norm.residual ? 1 : 0}};
}

} // namespace kw
