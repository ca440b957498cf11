// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waves resident per SIMD, from registers, LDS and limits. [gfx950.md 4.2, checked with llc]
#pragma once

#include "ir/Target.h"

namespace kw {

/// min(maxWavesPerSimd, floor(vectorRegisters / granule-rounded use)); VGPR part rounded to 4
/// before AGPRs are added. 0: the wave does not fit.
int occupancyByRegisters(const Target &target, int vgpr, int agpr);

/// Workgroups that fit into a CU by LDS alone (granule-rounded); a large number for 0 bytes.
int workgroupsByLds(const Target &target, std::int64_t ldsBytes);

/// Workgroups resident per CU by all limits. 0: not even one fits.
int workgroupsPerCu(const Target &target, int vgpr, int agpr, std::int64_t ldsBytes, int waves);

/// The same in waves per SIMD, rounded up.
int occupancy(const Target &target, int vgpr, int agpr, std::int64_t ldsBytes, int waves);

} // namespace kw
