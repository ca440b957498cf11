// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What operations of one wave cost in the graphs of every family, in shader clocks.
#pragma once

#include "ir/LoopGraph.h"
#include "ir/Target.h"

namespace kw {

inline constexpr int issueCycles = 4;    ///< of one wave [T: gfx950.md 3.1]
inline constexpr int barrierCycles = 32; ///< s_barrier's cost is not published [A]
/// m0 and the load; a hazard nop between them is mostly filled. [mlir22.md 3]
inline constexpr int directLoadInstructions = 2;

inline ResourceUse issueOf(int instructions) {
  ResourceUse use;
  use.issue = static_cast<float>(issueCycles * instructions);
  return use;
}

/// What a vector instruction's issue costs is what it occupies: the pipe takes one at a time.
inline ResourceUse vectorUse(const Target &target, int instructions, int transcendentals = 0) {
  ResourceUse use;
  use.valu = use.issue = static_cast<float>(target.valuCycles * (instructions - transcendentals) +
                                            target.transcendentalCycles * transcendentals);
  return use;
}

} // namespace kw
