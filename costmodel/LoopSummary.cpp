// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/LoopSummary.h"

namespace kw {

LoopSummary summarise(const LoopTotals &loop) {
  return {.use = loop.use,
          .recurrence = static_cast<float>(loop.recurrenceInterval),
          .length = static_cast<float>(loop.length),
          .barriers = loop.barriers,
          .loads = loop.loads,
          .maxAhead = loop.maxAhead,
          .loadDistance = static_cast<float>(loop.loadDistance)};
}

} // namespace kw
