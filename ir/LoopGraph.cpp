// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/LoopGraph.h"

#include <array>
#include <fmt/format.h>

namespace kw {

std::string_view name(TileOperand operand) {
  static constexpr std::array<std::string_view, 21> names{
      "none", "a", "b", "c",   "x",       "weight",  "residual", "y",   "sum",  "q",      "k",
      "v",    "p", "o", "lse", "scale_a", "scale_b", "bias",     "aux", "aux2", "partial"};
  return names[static_cast<std::size_t>(operand)];
}

std::string_view name(TileOpKind kind) {
  static constexpr std::array<std::string_view, 11> names{
      "globalLoad", "directLoad", "ldsWrite", "ldsRead", "matrix",  "vector",
      "reduce",     "store",      "wait",     "barrier", "priority"};
  return names[static_cast<std::size_t>(kind)];
}

namespace {

std::string print(const TileOp &op) {
  std::string text(name(op.kind));
  if (op.operand != TileOperand::none) {
    text += fmt::format(" {}", name(op.operand));
  }
  switch (op.kind) {
  case TileOpKind::globalLoad:
  case TileOpKind::directLoad:
  case TileOpKind::ldsWrite:
  case TileOpKind::store:
  case TileOpKind::vector:
    text += fmt::format(" piece={}", op.piece);
    break;
  case TileOpKind::ldsRead:
    text += fmt::format(" row={} slice={}", op.row, op.slice);
    break;
  case TileOpKind::matrix:
    text += fmt::format(" row={} column={} slice={}", op.row, op.column, op.slice);
    break;
  case TileOpKind::priority:
    text += fmt::format(" {}", op.row);
    break;
  case TileOpKind::wait:
    text += op.row != 0 ? fmt::format(" group={}", op.row) : "";
    text += op.pendingVector >= 0 ? fmt::format(" vmcnt={}", op.pendingVector) : "";
    text += op.pendingLds >= 0 ? fmt::format(" lgkmcnt={}", op.pendingLds) : "";
    break;
  default:
    break;
  }
  text += op.count != 1 ? fmt::format(" count={}", op.count) : "";
  text += op.transcendentals != 0 ? fmt::format(" transcendentals={}", op.transcendentals) : "";
  text += op.ahead != 0 ? fmt::format(" ahead={}", op.ahead) : "";
  return text;
}

} // namespace

std::string print(const LoopGraph &loop) {
  std::string text;
  for (const auto vertex : loop.order) {
    text += fmt::format("{:5} {}\n", loop.graph[vertex].slot, print(loop.graph[vertex].op));
  }
  text += fmt::format("interval {:g} (resource {:g}, recurrence {:g}), length {:g}\n",
                      loop.initiationInterval, loop.resourceInterval, loop.recurrenceInterval,
                      loop.length);
  return text;
}

} // namespace kw
