// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes LoopGraphs: a plan lists the operations of one iteration in serial order with the
// dependences between them; `finish` orders them, adds what in-order issue and shared pipes imply,
// counts the waits and computes the intervals.
#pragma once

#include "ir/LoopGraph.h"
#include "ir/Schedule.h"
#include "ir/Target.h"

#include <vector>

namespace kw {

/// Who else uses the pipes. Waves of one workgroup run in step between barriers, so what they share
/// counts in the recurrence; all resident waves count in the resource bound.
struct WaveSharing {
  int waves = 1;      ///< of the workgroup
  int workgroups = 1; ///< resident per CU
  int simds = 4;      ///< of the CU

  int wavesPerSimd() const { return (waves + simds - 1) / simds; } ///< of one workgroup
};

struct LoopArc {
  int from = 0, to = 0;
  LoopEdge edge;
};

class LoopBuilder {
public:
  LoopBuilder(const Target &target, const WaveSharing &sharing)
      : target(target), sharing(sharing) {}

  /// In serial order; the result identifies the vertex.
  int add(const TileOp &op, const ResourceUse &use);
  void depend(int from, int to, int latency, int distance = 0);

  LoopGraph finish(LoopOrder order);

private:
  void chainPipes(const std::vector<int> &order);
  void countWaits(const std::vector<int> &order);

  const Target &target;
  WaveSharing sharing;
  std::vector<LoopVertex> vertices;
  std::vector<LoopArc> arcs;
};

/// `use` as the waves of one workgroup see it that run in step: shared pipes take their turn.
ResourceUse inStep(const ResourceUse &use, const WaveSharing &sharing);

} // namespace kw
