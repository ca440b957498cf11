// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modulo schedule of one iteration with reservation tables (after Rau 1994 and, for the second
// pass, the lifetime-sensitive placement of swing modulo scheduling, Llosa 1996). All operations of
// an iteration stay within one interval: what runs ahead is decided by the plan (`TileOp::ahead`).
#pragma once

#include "ir/LoopBuilder.h"

#include <span>
#include <vector>

namespace kw {

struct ModuloSchedule {
  int interval = 0;       ///< shader clocks
  std::vector<int> slots; ///< per vertex, in [0, interval)
};

/// `uses` as seen by waves in step. Vertices are placed in the order of their numbers, which must
/// be topological for the arcs of distance 0. `late[v]`: as late as its successors allow
/// (fragments: short lives), else as early as possible.
ModuloSchedule moduloSchedule(std::span<const ResourceUse> uses, std::span<const LoopArc> arcs,
                              const std::vector<bool> &late);

/// Vertices by ascending slot, then number: respects every arc of distance 0.
std::vector<int> orderBySlots(std::span<const int> slots);

} // namespace kw
