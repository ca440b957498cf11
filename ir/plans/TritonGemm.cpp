// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of Inductor's Triton templates for GEMM.
#include "ir/plans/Plans.h"

namespace kw {

const Planner &tritonGemmPlanner() {
  static const Planner planner{
      [](const Problem &, const Schedule &, const Target &) { return KernelPlan(); }, nullptr,
      nullptr, nullptr, nullptr};
  return planner;
}

} // namespace kw
