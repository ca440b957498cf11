// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RMSNorm's axes.
#include "search/spaces/Spaces.h"

namespace kw {

std::vector<Axis> rmsNormAxes(const Problem &, const Target &) {
  AxisList axes(Family::rmsnorm);
  axes.add("wavesPerRow", {1, 2, 4, 8, 16});
  axes.add("rowsPerWorkgroup", {1, 2, 4, 8, 16});
  axes.add("vector", {2, 4, 8, 16});
  axes.add("passes", {1, 2});
  axes.add("wavesPerSimd", {0, 1, 2, 4, 8});
  return axes.take();
}

} // namespace kw
