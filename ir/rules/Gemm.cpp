// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of GEMM. The search assigns decisions in the order in which rules need them, so cheap
// rules stand before those that make a plan, and rules of few decisions before those of many.
#include "ir/rules/Rules.h"

namespace kw {

std::span<const Rule> gemmRules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list;
    for (auto part : {gemmSupportRules, gemmTilingRules, gemmAccessRules, gemmScaleRules,
                      gemmSplitRules, gemmPipelineRules, gemmLdsRules, gemmMappingRules}) {
      const std::vector<Rule> rules = part();
      list.insert(list.end(), rules.begin(), rules.end());
    }
    return list;
  }();
  return all;
}

} // namespace kw
