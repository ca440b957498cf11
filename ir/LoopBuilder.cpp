// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/LoopBuilder.h"

#include "ir/ModuloSchedule.h"

#include <boost/graph/howard_cycle_ratio.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

namespace kw {
namespace {

constexpr std::array<float ResourceUse::*, 5> pipes{&ResourceUse::issue, &ResourceUse::matrix,
                                                    &ResourceUse::valu, &ResourceUse::lds,
                                                    &ResourceUse::vectorMemory};

/// What an operation occupies when it issues. The data of a direct load reaches LDS much later: it
/// counts in the resource bound, but delays none of its neighbours.
ResourceUse inOrder(const LoopVertex &vertex, const WaveSharing &sharing) {
  ResourceUse use = inStep(vertex.use, sharing);
  if (vertex.op.kind == TileOpKind::directLoad) {
    use.lds = 0;
  }
  return use;
}

double longest(const ResourceUse &use) {
  return std::max({use.matrix, use.valu, use.lds, use.vectorMemory, use.issue});
}

/// Start of every vertex when the iteration begins at 0, in emitted order, and its end.
double longestPaths(const std::vector<int> &order, const std::vector<LoopArc> &arcs,
                    const std::vector<ResourceUse> &uses, std::vector<LoopVertex> &vertices) {
  const ArcIndex outOf(vertices.size(), arcs, &LoopArc::from);
  double end = 0;
  for (const int vertex : order) {
    const int start = vertices[vertex].slot;
    for (const int arc : outOf.at(vertex)) {
      int &slot = vertices[arcs[arc].to].slot;
      slot = std::max(slot, start + arcs[arc].edge.latency);
    }
    end = std::max(end, start + longest(uses[vertex]));
  }
  return end;
}

/// The maximum cycle ratio by running the loop: start times x(i, v) = max over arcs (u, v) of
/// x(i - distance, u) + latency become periodic, x(i) = x(i - p) + p * ratio (max-plus spectral
/// theorem; Baccelli et al. 1992). The issue chain makes the graph strongly connected. Most loops
/// settle in a few iterations, many times faster than Howard; nothing if this one doesn't.
std::optional<double> steadyInterval(const std::vector<int> &order, std::size_t vertices,
                                     const std::vector<LoopArc> &arcs) {
  constexpr int iterations = 32, longestPeriod = 4, history = 8;
  const std::size_t count = order.size();
  std::vector<int> positionOf(vertices);
  for (std::size_t position = 0; position < count; ++position) {
    positionOf[order[position]] = static_cast<int>(position);
  }
  std::vector<LoopArc> sorted(arcs);
  int reach = 1; ///< iterations that the next one depends on
  for (LoopArc &arc : sorted) {
    arc.from = positionOf[arc.from];
    arc.to = positionOf[arc.to];
    reach = std::max(reach, arc.edge.distance);
  }
  if (reach + longestPeriod > history) {
    return std::nullopt;
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const LoopArc &a, const LoopArc &b) { return a.to < b.to; });
  std::array<std::vector<std::int64_t>, history> start;
  start.fill(std::vector<std::int64_t>(count, 0));
  for (int i = history; i < history + iterations; ++i) {
    std::vector<std::int64_t> &now = start[i % history];
    std::fill(now.begin(), now.end(), 0);
    for (const LoopArc &arc : sorted) {
      const std::int64_t from = start[(i - arc.edge.distance) % history][arc.from];
      now[arc.to] = std::max(now[arc.to], from + arc.edge.latency);
    }
    const auto repeats = [&](int back, int period, std::int64_t step) {
      const std::vector<std::int64_t> &later = start[(i - back) % history];
      return std::equal(later.begin(), later.end(), start[(i - back - period) % history].begin(),
                        [step](auto a, auto b) { return a - b == step; });
    };
    for (int period = 1; period <= longestPeriod && i - reach - period >= history; ++period) {
      const std::int64_t step = now[0] - start[(i - period) % history][0];
      int back = 0;
      while (back < reach && repeats(back, period, step)) {
        ++back;
      }
      if (back == reach) {
        return static_cast<double>(step) / period;
      }
    }
  }
  return std::nullopt;
}

/// One pipe's chain over operations in order, around the end to the next iteration.
void chain(const std::vector<int> &order, const std::vector<ResourceUse> &uses,
           float ResourceUse::*pipe, const std::function<void(int, int, int, int)> &link) {
  int first = -1, last = -1;
  const auto latency = [&](int vertex) { return static_cast<int>(std::ceil(uses[vertex].*pipe)); };
  for (const int vertex : order) {
    if (uses[vertex].*pipe <= 0) {
      continue;
    }
    if (last >= 0) {
      link(last, vertex, latency(last), 0);
    }
    first = first < 0 ? vertex : first;
    last = vertex;
  }
  if (last >= 0) {
    link(last, first, latency(last), 1);
  }
}

/// Where in the endless sequence of iterations an operation stands, relative to iteration 0.
struct Issue {
  std::int64_t iteration = 0;
  std::size_t position = 0;
  auto operator<=>(const Issue &) const = default;
};

bool isWaitedFor(const TileOp &wait, const TileOp &op) {
  if (wait.operand == TileOperand::none) {
    return op.kind == TileOpKind::directLoad && op.row == wait.row;
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

double resourceInterval(const ResourceUse &use, const WaveSharing &sharing) {
  const double resident = double(sharing.waves) * sharing.workgroups;
  const double perSimd = std::max(1.0, resident / sharing.simds);
  return std::max({use.matrix * perSimd, use.valu * perSimd, use.lds * resident,
                   use.vectorMemory * resident, double(use.issue)});
}

double maximumCycleRatio(const LoopDependences &graph) {
  return boost::maximum_cycle_ratio(graph, boost::get(boost::vertex_index, graph),
                                    boost::get(&LoopEdge::latency, graph),
                                    boost::get(&LoopEdge::distance, graph));
}

ResourceUse inStep(const ResourceUse &use, const WaveSharing &sharing) {
  const auto perSimd = static_cast<float>(sharing.wavesPerSimd());
  const auto waves = static_cast<float>(sharing.wavesInStep());
  return {use.matrix * perSimd, use.valu * perSimd, use.lds * waves, use.vectorMemory * waves,
          use.issue};
}

ArcIndex::ArcIndex(std::size_t vertices, std::span<const LoopArc> arcs, int LoopArc::*end,
                   int distance)
    : offsets(vertices + 1, 0) {
  for (const LoopArc &arc : arcs) {
    offsets[arc.*end + 1] += arc.edge.distance == distance ? 1 : 0;
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  members.resize(offsets.back());
  std::vector<int> next(offsets.begin(), offsets.end() - 1);
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    if (arcs[i].edge.distance == distance) {
      members[next[arcs[i].*end]++] = static_cast<int>(i);
    }
  }
}

int LoopBuilder::add(const TileOp &op, const ResourceUse &use) {
  vertices.push_back({op, use, 0});
  uses.push_back(inOrder(vertices.back(), sharing));
  return static_cast<int>(vertices.size()) - 1;
}

void LoopBuilder::depend(int from, int to, int latency, int distance) {
  assert((distance > 0 || from < to) && "serial order must be topological");
  arcs.push_back({from, to, {latency, distance}});
}

/// A wave issues in order, and what it shares with the waves in step takes turns.
void LoopBuilder::chainPipes(const std::vector<int> &order) {
  for (const auto pipe : pipes) {
    chain(order, uses, pipe, [&](int from, int to, int latency, int distance) {
      arcs.push_back({from, to, {latency, distance}});
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
      op.pendingVector = static_cast<std::int16_t>(std::min(pending, target->maxVmcnt));
    }
  }
}

std::vector<int> LoopBuilder::orderOf(LoopOrder loopOrder) const {
  std::vector<int> serial(vertices.size());
  std::iota(serial.begin(), serial.end(), 0);
  if (loopOrder != LoopOrder::interleaved) {
    return serial;
  }
  std::vector<bool> late(vertices.size());
  for (std::size_t vertex = 0; vertex < vertices.size(); ++vertex) {
    // What is read a step ahead is free to come soon: the plan says when its registers are free.
    const TileOp &op = vertices[vertex].op;
    late[vertex] = op.kind == TileOpKind::ldsRead && op.ahead == 0;
  }
  return orderBySlots(moduloSchedule(uses, arcs, late).slots);
}

LoopDependences LoopBuilder::graph() const {
  std::vector<std::pair<int, int>> ends(arcs.size());
  std::vector<LoopEdge> edges(arcs.size());
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    ends[i] = {arcs[i].from, arcs[i].to};
    edges[i] = arcs[i].edge;
  }
  LoopDependences result(boost::edges_are_unsorted_multi_pass, ends.begin(), ends.end(),
                         edges.begin(), vertices.size());
  for (std::size_t vertex = 0; vertex < vertices.size(); ++vertex) {
    result[vertex] = vertices[vertex];
  }
  return result;
}

ResourceUse LoopBuilder::total() const {
  ResourceUse sum;
  for (const LoopVertex &vertex : vertices) {
    for (const auto pipe : pipes) {
      sum.*pipe += vertex.use.*pipe;
    }
  }
  return sum;
}

int LoopBuilder::maxAhead() const {
  int ahead = 0;
  for (const LoopVertex &vertex : vertices) {
    ahead = std::max<int>(ahead, vertex.op.ahead);
  }
  return ahead;
}

double LoopBuilder::loadDistance(const std::vector<int> &order) const {
  std::vector<int> matrixBefore(vertices.size());
  int matrix = 0;
  for (const int vertex : order) {
    matrixBefore[vertex] = matrix;
    matrix += vertices[vertex].op.kind == TileOpKind::matrix ? 1 : 0;
  }
  std::optional<double> least;
  for (std::size_t to = 0; to < vertices.size(); ++to) {
    const TileOp &wait = vertices[to].op;
    double longest = 0;
    for (std::size_t from = 0; from < vertices.size() && wait.kind == TileOpKind::wait; ++from) {
      if (wait.pendingVector >= 0 && isWaitedFor(wait, vertices[from].op)) {
        const double between = matrixBefore[to] - matrixBefore[from];
        longest =
            std::max(longest, vertices[from].op.ahead - wait.ahead + between / std::max(1, matrix));
      }
    }
    if (longest > 0) {
      least = std::min(least.value_or(longest), longest);
    }
  }
  return least.value_or(0);
}

double LoopBuilder::recurrence(const std::vector<int> &order) const {
  const std::optional<double> interval = steadyInterval(order, order.size(), arcs);
  return interval ? *interval : maximumCycleRatio(graph());
}

namespace {

/// Two groups of waves run the same body, the second one a phase behind: its operations of phase p
/// happen in the leading group's phase p + 1. They share the barriers between phases and, in turns,
/// the pipes; each issues for itself.
class TwoGroups {
public:
  TwoGroups(const std::vector<int> &order, std::span<const LoopVertex> vertices) : order(order) {
    const int count = static_cast<int>(order.size());
    phaseOf.resize(count);
    int phase = -1;
    for (const int vertex : order) {
      if (vertices[vertex].op.kind == TileOpKind::barrier) {
        ++phase;
        barriers.push_back(vertex);
      }
      phaseOf[vertex] = phase;
      isBarrier.push_back(false);
    }
    for (const int vertex : barriers) {
      isBarrier[vertex] = true;
    }
  }

  int phases() const { return static_cast<int>(barriers.size()); }
  int count() const { return static_cast<int>(order.size()); }
  /// The second group's name of a vertex.
  int second(int vertex) const {
    return isBarrier[vertex] ? barriers[(phaseOf[vertex] + 1) % phases()] : vertex + count();
  }
  /// Iterations by which its last phase reaches into the next one.
  int late(int vertex) const { return phaseOf[vertex] + 1 == phases() ? 1 : 0; }

  /// Both, in the order of time.
  std::vector<int> merged() const {
    std::vector<int> all;
    for (int phase = 0; phase < phases(); ++phase) {
      for (const int vertex : order) {
        if (phaseOf[vertex] == phase) {
          all.push_back(vertex);
        }
      }
      for (const int vertex : order) {
        if (!isBarrier[vertex] && (phaseOf[vertex] + 1) % phases() == phase) {
          all.push_back(second(vertex));
        }
      }
    }
    return all;
  }

private:
  const std::vector<int> &order;
  std::vector<int> phaseOf, barriers;
  std::vector<bool> isBarrier;
};

} // namespace

/// The time of an iteration when two groups take turns: both in one graph, so that each phase lasts
/// as long as the slower of what the groups do in it. `ownArcs`: without chains.
double LoopBuilder::recurrenceOfGroups(const std::vector<int> &order,
                                       const std::vector<LoopArc> &ownArcs) const {
  const TwoGroups groups(order, vertices);
  std::vector<LoopArc> all(ownArcs);
  const auto linkFirst = [&](int from, int to, int latency, int distance) {
    all.push_back({from, to, {latency, distance}});
  };
  const auto linkSecond = [&](int from, int to, int latency, int distance) {
    all.push_back({groups.second(from),
                   groups.second(to),
                   {latency, distance + groups.late(to) - groups.late(from)}});
  };
  for (const LoopArc &arc : ownArcs) {
    linkSecond(arc.from, arc.to, arc.edge.latency, arc.edge.distance);
  }
  chain(order, uses, &ResourceUse::issue, linkFirst);
  chain(order, uses, &ResourceUse::issue, linkSecond);
  std::vector<ResourceUse> bothUses(uses);
  bothUses.insert(bothUses.end(), uses.begin(), uses.end());
  const std::vector<int> both = groups.merged();
  for (const auto pipe : pipes) {
    if (pipe != &ResourceUse::issue) {
      chain(both, bothUses, pipe, linkFirst);
    }
  }
  const std::optional<double> interval = steadyInterval(both, bothUses.size(), all);
  assert(interval && "phases repeat");
  return interval.value_or(0);
}

LoopGraph LoopBuilder::finish(LoopOrder loopOrder) {
  const std::vector<int> order = orderOf(loopOrder);
  const std::vector<LoopArc> ownArcs = sharing.groups > 1 ? arcs : std::vector<LoopArc>();
  countWaits(order);
  chainPipes(order);

  LoopGraph loop;
  loop.length = longestPaths(order, arcs, uses, vertices);
  loop.resourceInterval = resourceInterval(total(), sharing);
  loop.recurrenceInterval =
      loopOrder == LoopOrder::pingpong ? recurrenceOfGroups(order, ownArcs) : recurrence(order);
  loop.initiationInterval = std::max(loop.resourceInterval, loop.recurrenceInterval);
  loop.maxAhead = maxAhead();
  loop.graph = graph();
  loop.order.assign(order.begin(), order.end());
  return loop;
}

LoopTotals LoopBuilder::totals(LoopOrder loopOrder) {
  const std::vector<int> order = orderOf(loopOrder);
  const std::vector<LoopArc> ownArcs = sharing.groups > 1 ? arcs : std::vector<LoopArc>();
  chainPipes(order);

  LoopTotals totals;
  totals.use = total();
  totals.length = longestPaths(order, arcs, uses, vertices);
  totals.recurrenceInterval =
      loopOrder == LoopOrder::pingpong ? recurrenceOfGroups(order, ownArcs) : recurrence(order);
  totals.maxAhead = maxAhead();
  totals.loadDistance = loadDistance(order);
  for (const LoopVertex &vertex : vertices) {
    const TileOpKind kind = vertex.op.kind;
    totals.barriers += kind == TileOpKind::barrier ? vertex.op.count : 0;
    totals.loads +=
        kind == TileOpKind::globalLoad || kind == TileOpKind::directLoad ? vertex.op.count : 0;
  }
  return totals;
}

} // namespace kw
