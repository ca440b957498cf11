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

#include <span>
#include <vector>

namespace kw {

/// Who else uses the pipes. Waves of one workgroup run in step between barriers, so what they share
/// counts in the recurrence; all resident waves count in the resource bound (graphs are built for
/// one workgroup, so that they don't depend on occupancy).
struct WaveSharing {
  int waves = 1;      ///< of the workgroup
  int workgroups = 1; ///< resident per CU
  int simds = 4;      ///< of the CU
  int groups = 1;     ///< of the workgroup's waves; only those of one group run in step

  int wavesInStep() const { return (waves + groups - 1) / groups; }
  int wavesPerSimd() const { return (wavesInStep() + simds - 1) / simds; } ///< of one group
};

struct LoopArc {
  int from = 0, to = 0;
  LoopEdge edge;
};

/// Arcs of one distance by the vertex at one of their ends; values are indices into the arcs.
class ArcIndex {
public:
  ArcIndex(std::size_t vertices, std::span<const LoopArc> arcs, int LoopArc::*end,
           int distance = 0);
  std::span<const int> at(int vertex) const {
    return {members.data() + offsets[vertex], members.data() + offsets[vertex + 1]};
  }

private:
  std::vector<int> offsets, members;
};

class LoopBuilder {
public:
  LoopBuilder(const Target &target, const WaveSharing &sharing)
      : target(&target), sharing(sharing) {}

  /// In serial order; of a ping-pong schedule a barrier first, and as many phases between barriers
  /// as the groups can take turns in. The result identifies the vertex.
  int add(const TileOp &op, const ResourceUse &use);
  void depend(int from, int to, int latency, int distance = 0);

  LoopGraph finish(LoopOrder order);
  /// The same numbers without the graph and its waits.
  LoopTotals totals(LoopOrder order);

private:
  std::vector<int> orderOf(LoopOrder order) const;
  void chainPipes(const std::vector<int> &order);
  void countWaits(const std::vector<int> &order);
  LoopDependences graph() const;

  ResourceUse total() const;
  int maxAhead() const;
  double loadDistance(const std::vector<int> &order) const;
  double recurrence(const std::vector<int> &order) const;
  double recurrenceOfGroups(const std::vector<int> &order,
                            const std::vector<LoopArc> &ownArcs) const;

  const Target *target;
  WaveSharing sharing;
  std::vector<LoopVertex> vertices;
  std::vector<ResourceUse> uses; ///< per vertex, as it delays its neighbours in emitted order
  std::vector<LoopArc> arcs;
};

struct UnfinishedLoop {
  LoopBuilder builder;
  LoopOrder order = LoopOrder::serial;
};

/// Most loaded resource when every resident wave runs one iteration. `use`: sums of one wave.
double resourceInterval(const ResourceUse &use, const WaveSharing &sharing);

/// Maximum over the graph's cycles of latency / distance, by Howard's policy iteration.
double maximumCycleRatio(const LoopDependences &graph);

/// `use` as the waves of one workgroup see it that run in step: shared pipes take their turn.
ResourceUse inStep(const ResourceUse &use, const WaveSharing &sharing);

} // namespace kw
