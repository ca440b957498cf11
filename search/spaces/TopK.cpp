// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Top-k's axes.
#include "search/spaces/Spaces.h"

namespace kw {

std::vector<Axis> topKAxes(const Problem &, const Target &) {
  AxisList axes(Family::topk);
  axes.add("wavesPerRow", {1, 2, 4, 8, 16});
  axes.add("rowsPerWorkgroup", {1, 2, 4, 8, 16});
  axes.add("vector", {16, 8, 4, 2});
  axes.add("prefetch", {0, 1, 2, 4, 8});
  return axes.take();
}

} // namespace kw
