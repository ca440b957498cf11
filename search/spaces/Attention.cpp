// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention's axes.
#include "search/spaces/Spaces.h"

namespace kw {

std::vector<Axis> attentionAxes(const Problem &, const Target &) {
  AxisList axes(Family::attention);
  axes.add("rows", {16, 32, 64});
  axes.add("columns", {32, 64, 128});
  axes.add("waves", {1, 2, 4, 8, 16});
  axes.add("mfmaM", {16, 32});
  axes.add("mfmaN", {16, 32});
  axes.add("mfmaK", {16, 32});
  axes.addNames("kPath");
  axes.addNames("vPath");
  axes.addNames("kLayout");
  axes.addNames("vLayout");
  axes.add("kVector", {16});
  axes.add("vVector", {16});
  axes.add("stages", {2, 3, 4});
  axes.add("prefetch", {0, 1, 2});
  axes.add("splitKV", {1, 2, 4, 8, 16, 32, 64, 128});
  axes.addNames("combine");
  axes.add("xcdRemap", {0, 1});
  axes.add("wavesPerSimd", {0, 1, 2, 4});
  return axes.take();
}

} // namespace kw
