// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Axes of Inductor's Triton templates for GEMM: the product from which its exhaustive list for ROCm
// is drawn, with 1 and 2 waves and 3 stages besides. [inductor.md 3] matrix_instr_nonkdim and
// waves_per_eu stay 0, because torch 2.13 doesn't hand them to Triton: a row with another value
// would mean two things. kpack=2 means 1 on gfx950.
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
  axes.add("matrixInstrNonKDim", {0});
  axes.add("wavesPerEu", {0});
  axes.add("kpack", {1});
  return axes.take();
}

} // namespace kw
