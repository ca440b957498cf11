// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/rules/Registers.h"

#include <algorithm>
#include <fmt/format.h>

namespace kw {
namespace {

// With accumulators in AGPRs LLVM 22 spilled at the last tenth of the VGPRs, and above 208 of them.
// [measured: 2 of 990 kernels, at 126 of 128 and 226 of 256; none below these limits]
constexpr int usableTenths = 9;
constexpr int usableBesideAgprs = 208;

} // namespace

RegisterBudget registerBudget(const RegisterUse &use, int waves, const Target &target) {
  const int wavesPerSimd = (waves + target.simdsPerCu - 1) / target.simdsPerCu;
  const int granule = target.vectorRegisterGranule;
  const int share = std::min(target.vectorRegisters / wavesPerSimd, target.vectorRegistersPerWave) /
                    granule * granule;
  const int agpr = std::min(share, target.vectorRegistersPerWave - target.vgprPerWave);
  const int agprTaken = (std::min(use.agpr(), agpr) + granule - 1) / granule * granule;
  const int vgpr = std::min(share - agprTaken, target.vgprPerWave);
  return {use.agpr() == 0 ? vgpr : std::min(vgpr * usableTenths / 10, usableBesideAgprs), agpr};
}

int residentWaves(const GemmSchedule &schedule, const Target &target) {
  return std::max(schedule.waves(), schedule.pipeline.wavesPerSimd * target.simdsPerCu);
}

bool fits(const RegisterUse &use, int waves, const Target &target) {
  const RegisterBudget budget = registerBudget(use, waves, target);
  return use.vgpr() <= budget.vgpr && use.agpr() <= budget.agpr;
}

std::string registerShortage(const RegisterUse &use, int waves, const Target &target) {
  const RegisterBudget budget = registerBudget(use, waves, target);
  return fmt::format("a wave needs {} VGPRs ({} accumulators, {} fragments, {} loads in flight, {} "
                     "addresses) and {} AGPRs; with {} waves a workgroup it has {} and {}",
                     use.vgpr(), use.accumulatorsInAgpr ? 0 : use.accumulators, use.fragments,
                     use.staging, use.addresses, use.agpr(), waves, budget.vgpr, budget.agpr);
}

} // namespace kw
