// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the model keeps of a region's LoopGraph: sums of its resource use and its recurrence. Made
// once per LoopKey and context, so that no loop is looked at per estimate. Compact: the memo holds
// many.
#pragma once

#include "ir/LoopGraph.h"

namespace kw {

/// One wave, one iteration, shader clocks.
struct LoopSummary {
  ResourceUse use;      ///< sums over the operations
  float recurrence = 0; ///< maximum over cycles of latency / distance
  float length = 0;     ///< start to end of one iteration on its own
  int barriers = 0;
  int loads = 0;          ///< global loads, also straight to LDS
  int maxAhead = 0;       ///< iterations between a load and its use
  float loadDistance = 0; ///< iterations between a load and the wait for it; 0: within one
};

LoopSummary summarise(const LoopTotals &loop);

} // namespace kw
