// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rule of an attention problem, whatever the schedule.
#pragma once

#include "ir/Rule.h"
#include "ir/ops/Attention.h"

namespace kw {

/// `holds` of the problem, and the text where it does not.
template <auto holds, auto fact> Rule attentionRule(std::string_view name) {
  return {name, 0,
          [](const Problem &p, const Schedule &, const Target &) { return holds(p.attention()); },
          [](const Problem &p, const Schedule &, const Target &) { return fact(p.attention()); }};
}

} // namespace kw
