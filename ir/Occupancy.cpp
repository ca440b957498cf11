// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Occupancy.h"

#include <algorithm>
#include <limits>

namespace kw {

namespace {
/// AGPRs start at a multiple of 4 behind the VGPRs. [descriptor field accum_offset, gfx950.md 4.4]
constexpr int accumulatorOffsetGranule = 4;

constexpr std::int64_t roundUp(std::int64_t value, std::int64_t granule) {
  return (value + granule - 1) / granule * granule;
}
} // namespace

int occupancyByRegisters(const Target &target, int vgpr, int agpr) {
  if (vgpr > target.vgprPerWave || agpr > target.vectorRegistersPerWave - target.vgprPerWave) {
    return 0;
  }
  const std::int64_t unified = (agpr > 0 ? roundUp(vgpr, accumulatorOffsetGranule) : vgpr) + agpr;
  const std::int64_t used =
      roundUp(std::max<std::int64_t>(unified, 1), target.vectorRegisterGranule);
  return static_cast<int>(
      std::min<std::int64_t>(target.maxWavesPerSimd, target.vectorRegisters / used));
}

int workgroupsByLds(const Target &target, std::int64_t ldsBytes) {
  if (ldsBytes <= 0) {
    return std::numeric_limits<int>::max();
  }
  return static_cast<int>(target.ldsBytes / roundUp(ldsBytes, target.ldsGranule));
}

int workgroupsPerCu(const Target &target, int vgpr, int agpr, std::int64_t ldsBytes, int waves) {
  if (waves < 1 || waves > target.maxWavesPerWorkgroup) {
    return 0;
  }
  // Waves of a workgroup spread over the SIMDs, so whole workgroups share the CU's wave slots.
  const int slots = target.simdsPerCu * occupancyByRegisters(target, vgpr, agpr);
  return std::min(slots / waves, workgroupsByLds(target, ldsBytes));
}

int occupancy(const Target &target, int vgpr, int agpr, std::int64_t ldsBytes, int waves) {
  const int waveSlots = waves * workgroupsPerCu(target, vgpr, agpr, ldsBytes, waves);
  return (waveSlots + target.simdsPerCu - 1) / target.simdsPerCu;
}

} // namespace kw
