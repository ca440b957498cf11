// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compiled kernel really uses, read back from the HSACO. The truth that expected registers
// and LDS of a KernelPlan are compared with.
#pragma once

#include "ir/CodeObject.h"
#include "ir/support/Expected.h"

#include <cstdint>
#include <span>
#include <vector>

namespace kw {

/// One entry per kernel of the metadata note, in its order. `occupancy` is the number of waves per
/// SIMD that registers and LDS allow on gfx942 and gfx950 for the kernel's largest workgroup.
/// Spills into AGPRs are not counted by LLVM: look for v_accvgpr_* in the loop.
Expected<std::vector<KernelResources>> readResources(std::span<const std::uint8_t> hsaco);

} // namespace kw
