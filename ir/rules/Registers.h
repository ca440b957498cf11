// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a plan's registers fit without spills, for the rules of every family.
#pragma once

#include "ir/KernelPlan.h"
#include "ir/Target.h"

#include <string>

namespace kw {

/// What one wave may have so that a workgroup of `waves` is resident: the SIMD's registers divided
/// by the waves that it must hold, VGPRs at most `vgprPerWave`, AGPRs counted first; beside AGPRs
/// a margin of the VGPRs stays free.
struct RegisterBudget {
  int vgpr = 0, agpr = 0;
};
RegisterBudget registerBudget(const RegisterUse &use, int waves, const Target &target);

/// Waves that a workgroup would have to have for the occupancy that is asked for.
int residentWaves(const GemmSchedule &schedule, const Target &target);

bool fits(const RegisterUse &use, int waves, const Target &target);
/// The numbers of a use that does not fit.
std::string registerShortage(const RegisterUse &use, int waves, const Target &target);

} // namespace kw
