// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Axes of grouped products: those of a GEMM of one group, as far as there are such decisions.
#include "search/spaces/Spaces.h"

#include <algorithm>

namespace kw {

std::vector<Axis> groupedGemmAxes(const Problem &problem, const Target &target) {
  const auto ofGemm = decisions(Family::gemm), all = decisions(Family::groupedGemm);
  AxisList axes(Family::groupedGemm);
  for (Axis &axis : gemmAxes(Problem{problem.groupedGemm().product}, target)) {
    const std::string_view name = ofGemm[static_cast<std::size_t>(axis.decision)].name;
    if (std::ranges::find(all, name, &Decision::name) != all.end()) {
      axes.add(name, std::move(axis.values));
    }
  }
  return axes.take();
}

} // namespace kw
