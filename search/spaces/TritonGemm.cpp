// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Axes of Inductor's Triton templates for GEMM: the product from which its exhaustive ROCm list is
// drawn, and the values beyond it that its template takes. [inductor.md 3]
#include "search/spaces/Spaces.h"

namespace kw {

std::vector<Axis> tritonGemmAxes(const Problem &, const Target &) {
  AxisList axes({Family::gemm, Generator::triton});
  axes.add("blockM", {16, 32, 64, 128, 256});
  axes.add("blockN", {16, 32, 64, 128, 256});
  axes.add("blockK", {16, 32, 64, 128, 256});
  axes.add("groupM", {8, 4, 16});
  axes.add("numWarps", {4, 8, 2, 1});
  axes.add("numStages", {2, 1, 3});
  axes.add("matrixInstrNonKDim", {16, 32});
  axes.add("wavesPerEu", {0, 2});
  axes.add("kpack", {1});
  return axes.take();
}

} // namespace kw
