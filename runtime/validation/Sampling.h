// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which workgroups of a large launch are run, so that every kind of tile is seen.
#pragma once

#include "ir/KernelPlan.h"

#include <cstdint>
#include <vector>

namespace kw {

/// Linear ids, ascending, without repetition: the corner, workgroup 0, the last workgroup, one tile
/// of each other kind that exists (last row of tiles, last column, neither), and random ones up to
/// `wanted`. Kinds come in even if that gives more.
std::vector<std::uint64_t> sampleWorkgroups(const LaunchPlan &launch, std::size_t wanted,
                                            std::uint64_t seed);

/// The workgroup whose tile is the last along both dimensions, in the last batch: every edge of the
/// problem in one.
std::uint64_t cornerWorkgroup(const LaunchPlan &launch);

} // namespace kw
