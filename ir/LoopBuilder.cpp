// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/LoopBuilder.h"

#include "ir/ModuloSchedule.h"

#include <boost/graph/howard_cycle_ratio.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numeric>

namespace kw {
namespace {

constexpr std::array<float ResourceUse::*, 4> sharedPipes{
    &ResourceUse::matrix, &ResourceUse::valu, &ResourceUse::lds, &ResourceUse::vectorMemory};

/// Most loaded pipe when every resident wave runs one iteration.
double resourceBound(const std::vector<LoopVertex> &vertices, const WaveSharing &sharing) {
  ResourceUse sum;
  for (const LoopVertex &vertex : vertices) {
    sum.matrix += vertex.use.matrix;
    sum.valu += vertex.use.valu;
    sum.lds += vertex.use.lds;
    sum.vectorMemory += vertex.use.vectorMemory;
    sum.issue += vertex.use.issue;
  }
  const double resident = double(sharing.waves) * sharing.workgroups;
  const double perSimd = std::max(1.0, resident / sharing.simds);
  return std::max({sum.matrix * perSimd, sum.valu * perSimd, sum.lds * resident,
                   sum.vectorMemory * resident, double(sum.issue)});
}

/// Start of every vertex when the iteration begins at 0, in emitted order, and its end.
double longestPaths(const std::vector<int> &order, const std::vector<LoopArc> &arcs,
                    const WaveSharing &sharing, std::vector<LoopVertex> &vertices) {
  std::vector<std::vector<int>> outOf(vertices.size());
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    if (arcs[i].edge.distance == 0) {
      outOf[arcs[i].from].push_back(static_cast<int>(i));
    }
  }
  double end = 0;
  for (const int vertex : order) {
    const int start = vertices[vertex].slot;
    for (const int arc : outOf[vertex]) {
      int &slot = vertices[arcs[arc].to].slot;
      slot = std::max(slot, start + arcs[arc].edge.latency);
    }
    const ResourceUse use = inStep(vertices[vertex].use, sharing);
    end = std::max<double>(
        end, start + std::max({use.matrix, use.valu, use.lds, use.vectorMemory, use.issue}));
  }
  return end;
}

/// Where in the endless sequence of iterations an operation stands, relative to iteration 0.
struct Issue {
  std::int64_t iteration = 0;
  std::size_t position = 0;
  auto operator<=>(const Issue &) const = default;
};

bool isWaitedFor(const TileOp &wait, const TileOp &op) {
  if (wait.operand == TileOperand::none) {
    return op.kind == TileOpKind::directLoad;
  }
  return op.operand == wait.operand &&
         (op.kind == TileOpKind::globalLoad || op.kind == TileOpKind::directLoad);
}

/// `issued(op, iteration)`: whether the operation is emitted at all in that iteration.
template <typename At, typename Issued>
int pendingVector(const At &at, std::size_t size, std::size_t position, std::int64_t iteration,
                  const Issued &issued) {
  const TileOp &wait = at(position);
  const Issue self{iteration, position};
  Issue last{};
  bool found = false;
  for (std::size_t p = 0; p < size; ++p) {
    const TileOp &op = at(p);
    const Issue issue{iteration + wait.ahead - op.ahead, p};
    if (isWaitedFor(wait, op) && issue < self && issued(op, issue.iteration)) {
      last = found ? std::max(last, issue) : issue;
      found = true;
    }
  }
  if (!found) {
    return -1;
  }
  int pending = 0;
  for (std::size_t p = 0; p < size; ++p) {
    for (std::int64_t i = last.iteration; isVectorMemory(at(p).kind) && i <= iteration; ++i) {
      const Issue issue{i, p};
      pending += last < issue && issue < self && issued(at(p), i) ? at(p).count : 0;
    }
  }
  return pending;
}

} // namespace

int pendingVectorAt(const LoopGraph &loop, std::size_t position, std::int64_t iteration,
                    std::int64_t steps, bool drainIssues) {
  const auto at = [&](std::size_t p) -> const TileOp & { return loop.op(p); };
  return pendingVector(at, loop.size(), position, iteration, [&](const TileOp &op, std::int64_t i) {
    const std::int64_t step = i + op.ahead;
    return step >= 0 && (drainIssues || step < steps);
  });
}

ResourceUse inStep(const ResourceUse &use, const WaveSharing &sharing) {
  const auto perSimd = static_cast<float>(sharing.wavesPerSimd());
  const auto waves = static_cast<float>(sharing.waves);
  return {use.matrix * perSimd, use.valu * perSimd, use.lds * waves, use.vectorMemory * waves,
          use.issue};
}

int LoopBuilder::add(const TileOp &op, const ResourceUse &use) {
  vertices.push_back({op, use, 0});
  return static_cast<int>(vertices.size()) - 1;
}

void LoopBuilder::depend(int from, int to, int latency, int distance) {
  assert((distance > 0 || from < to) && "serial order must be topological");
  arcs.push_back({from, to, {latency, distance}});
}

/// A wave issues in order, and what it shares with the waves in step takes turns.
void LoopBuilder::chainPipes(const std::vector<int> &order) {
  const auto chain = [&](auto latencyOf) {
    int first = -1, last = -1;
    for (const int vertex : order) {
      if (latencyOf(vertex) <= 0) {
        continue;
      }
      if (last >= 0) {
        arcs.push_back({last, vertex, {latencyOf(last), 0}});
      }
      first = first < 0 ? vertex : first;
      last = vertex;
    }
    if (last >= 0) {
      arcs.push_back({last, first, {latencyOf(last), 1}});
    }
  };
  chain([&](int v) { return static_cast<int>(std::ceil(vertices[v].use.issue)); });
  for (const auto pipe : sharedPipes) {
    chain([&](int v) {
      return static_cast<int>(std::lround(inStep(vertices[v].use, sharing).*pipe));
    });
  }
}

void LoopBuilder::countWaits(const std::vector<int> &order) {
  const auto at = [&](std::size_t p) -> const TileOp & { return vertices[order[p]].op; };
  for (std::size_t position = 0; position < order.size(); ++position) {
    TileOp &op = vertices[order[position]].op;
    if (op.kind == TileOpKind::wait && op.pendingVector >= 0) {
      const int pending = pendingVector(at, order.size(), position, 0,
                                        [](const TileOp &, std::int64_t) { return true; });
      assert(pending >= 0 && "a wait for loads that the body doesn't contain");
      op.pendingVector = static_cast<std::int16_t>(std::min(pending, target.maxVmcnt));
    }
  }
}

LoopGraph LoopBuilder::finish(LoopOrder loopOrder) {
  std::vector<int> order(vertices.size());
  std::iota(order.begin(), order.end(), 0);
  if (loopOrder == LoopOrder::interleaved) {
    std::vector<ResourceUse> uses;
    std::vector<bool> late;
    for (const LoopVertex &vertex : vertices) {
      uses.push_back(inStep(vertex.use, sharing));
      late.push_back(vertex.op.kind == TileOpKind::ldsRead);
    }
    order = orderBySlots(moduloSchedule(uses, arcs, order, late).slots, arcs);
  }
  countWaits(order);
  chainPipes(order);

  LoopGraph loop;
  loop.length = longestPaths(order, arcs, sharing, vertices);
  loop.resourceInterval = resourceBound(vertices, sharing);
  for (const LoopVertex &vertex : vertices) {
    loop.maxAhead = std::max<int>(loop.maxAhead, vertex.op.ahead);
    boost::add_vertex(vertex, loop.graph);
  }
  for (const LoopArc &arc : arcs) {
    boost::add_edge(arc.from, arc.to, arc.edge, loop.graph);
  }
  loop.order.assign(order.begin(), order.end());
  loop.recurrenceInterval = boost::maximum_cycle_ratio(
      loop.graph, boost::get(boost::vertex_index, loop.graph),
      boost::get(&LoopEdge::latency, loop.graph), boost::get(&LoopEdge::distance, loop.graph));
  loop.initiationInterval = std::max(loop.resourceInterval, loop.recurrenceInterval);
  return loop;
}

} // namespace kw
