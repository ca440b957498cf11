// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/LoopSummary.h"

namespace kw {

LoopSummary summarise(const LoopGraph &loop) {
  LoopSummary summary;
  for (const auto vertex : loop.order) {
    const LoopVertex &node = loop.graph[vertex];
    summary.use.matrix += node.use.matrix;
    summary.use.valu += node.use.valu;
    summary.use.lds += node.use.lds;
    summary.use.vectorMemory += node.use.vectorMemory;
    summary.use.issue += node.use.issue;
    summary.barriers += node.op.kind == TileOpKind::barrier;
    summary.loads +=
        node.op.kind == TileOpKind::globalLoad || node.op.kind == TileOpKind::directLoad
            ? node.op.count
            : 0;
  }
  summary.recurrence = static_cast<float>(loop.recurrenceInterval);
  summary.length = static_cast<float>(loop.length);
  summary.maxAhead = loop.maxAhead;
  return summary;
}

} // namespace kw
