// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands in for the unknowns of a kernel. Two kinds, and the table in TileChoices.cpp says
// which decision is of which:
//
//   best      a tuner or a library has picked it for the shape (tile of a kernel that isn't named,
//             splits of a stream-K grid, how waves divide the tile): the fastest counts
//   averaged  whoever wrote the kernel has fixed it and we weren't told (stages, prefetch, K step,
//             matrix instruction, workgroups a CU): the mean of log(time) over plausible values
//             counts
#pragma once

#include "costmodel/foreign/TilePlan.h"

#include <vector>

namespace kw {

/// The fastest of `alternatives`, each the mean in log over its members, is the estimate.
struct TileChoices {
  std::vector<std::vector<SetTileKernel>> alternatives;
};

TileChoices tileChoices(const TileKernel &kernel, const TileProblem &problem, const Target &target);

} // namespace kw
