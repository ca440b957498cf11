// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dependence graph of one region of a kernel for one wave: vertices are tile operations, edges
// carry latency and iteration distance. One graph serves two masters: the cost model reads the
// initiation interval, codegen emits the operations in the order of the modulo schedule. It
// promises order and interval, not LLVM's addresses or the waits that LLVM adds for LDS reads.
// Graphs are made by LoopBuilder.h; ModuloSchedule.h finds the slots of interleaved ones.
#pragma once

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// Operands that a region moves or multiplies. One list for all families.
enum class TileOperand : std::uint8_t {
  none,
  a,
  b,
  c,
  x,
  weight,
  residual,
  y,
  sum,
  q,
  k,
  v,
  p,
  o,
  lse,
  scaleA,
  scaleB,
  bias,
  aux,     ///< operand of an epilogue's first `mul` or `add`
  aux2,    ///< of its second
  partial, ///< sums of one split of k
};

enum class TileOpKind : std::uint8_t {
  globalLoad, ///< one vector load per lane into registers
  directLoad, ///< one vector load per lane straight to LDS
  ldsWrite,   ///< one LDS write per lane of a loaded piece
  ldsRead,    ///< one fragment of a matrix instruction's operand
  matrix,     ///< one matrix instruction
  vector,     ///< `count` vector ALU instructions (`transcendentals` of them transcendental)
  reduce,     ///< reduction over the lanes of a row, in the wave or through LDS
  store,      ///< one vector store per lane
  /// Until at most `pendingVector` vector memory (or `pendingLds` LDS) operations are outstanding.
  /// For loads of `operand`; none: of all that are loaded directly.
  wait,
  barrier,  ///< workgroup barrier
  priority, ///< the wave's priority among those of its SIMD: `row` 1 raised, 0 as before
};

/// One operation of one wave in one iteration of a region. Which of the fields mean something
/// depends on the kind; unused ones are 0. All indices are static, so codegen resolves addresses
/// from them.
struct TileOp {
  TileOpKind kind = TileOpKind::vector;
  TileOperand operand = TileOperand::none;
  std::int16_t piece = 0; ///< globalLoad, directLoad, ldsWrite: number of the load within the tile
  /// ldsRead, globalLoad of a fragment: fragment along m or n; matrix: fragment along m; directLoad,
  /// and a wait for direct loads: which of them are waited for together (0 unless the tile is in
  /// quadrants)
  std::int16_t row = 0;
  std::int16_t column = 0; ///< matrix: fragment along n
  std::int16_t slice = 0;  ///< the same, matrix: mfma-K slice within the step
  std::int16_t ahead = 0;  ///< the operation works for iteration i + ahead
  std::int16_t count = 1;  ///< instructions that it stands for
  std::int16_t transcendentals = 0;
  std::int16_t pendingVector = -1; ///< wait: vmcnt; -1: no wait on it
  std::int16_t pendingLds = -1;    ///< wait: lgkmcnt; -1: no wait on it

  bool operator==(const TileOp &) const = default;
};

/// Shader clocks for which one operation of one wave occupies each resource. `lds` and
/// `vectorMemory` are of the CU, `matrix` and `valu` of the SIMD that the wave lives on, `issue` is
/// the wave's own: different waves issue at the same time.
struct ResourceUse {
  float matrix = 0, valu = 0, lds = 0, vectorMemory = 0, issue = 0;
};

struct LoopVertex {
  TileOp op;
  ResourceUse use;
  int slot = 0; ///< start in the emitted order, shader clocks from the start of the iteration
};

struct LoopEdge {
  int latency = 0;  ///< shader clocks from the start of the source to the start of the target
  int distance = 0; ///< iterations
};

/// Built at once by LoopBuilder: the model builds thousands of graphs a space.
using LoopDependences = boost::compressed_sparse_row_graph<boost::directedS, LoopVertex, LoopEdge>;

/// What the cost model keeps of a graph: one wave, one iteration, shader clocks.
struct LoopTotals {
  ResourceUse use; ///< sums over the operations
  double recurrenceInterval = 0, length = 0;
  int maxAhead = 0;
  int barriers = 0;
  int loads = 0; ///< global loads, also straight to LDS
  /// Iterations from a load to the wait for it: whole ones, and of the rest the share of the matrix
  /// instructions between. The least over the waits; of the loads of a wait the first one counts.
  double loadDistance = 0;
};

struct LoopGraph {
  LoopDependences graph;
  /// Vertices in the order in which one iteration emits them.
  std::vector<LoopDependences::vertex_descriptor> order;
  double resourceInterval = 0;   ///< most loaded resource, one workgroup on the CU, shader clocks
  double recurrenceInterval = 0; ///< maximum over cycles of latency / distance
  /// max(resourceInterval, recurrenceInterval): shader clocks per iteration in the steady state.
  double initiationInterval = 0;
  /// Start to end of one iteration on its own: what a prologue or a single iteration costs.
  double length = 0;
  int maxAhead = 0;

  std::size_t size() const { return order.size(); }
  const TileOp &op(std::size_t position) const { return graph[order[position]].op; }
};

inline bool isVectorMemory(TileOpKind kind) {
  return kind == TileOpKind::globalLoad || kind == TileOpKind::directLoad ||
         kind == TileOpKind::store;
}

/// vmcnt for the wait at `position` in iteration `iteration` of a loop over steps 0 .. steps-1
/// whose prologue consists of iterations -maxAhead .. -1: the number of vector memory instructions
/// issued after the last one that is waited for, when operations of steps below 0 are left out and
/// those of steps >= `steps` are issued only with `drainIssues`. -1: nothing to wait for. Not
/// clamped.
int pendingVectorAt(const LoopGraph &loop, std::size_t position, std::int64_t iteration,
                    std::int64_t steps, bool drainIssues);

std::string_view name(TileOperand operand);
std::string_view name(TileOpKind kind);

/// One line an operation, in emitted order: for tests, `--emit` and reading.
std::string print(const LoopGraph &loop);

} // namespace kw
