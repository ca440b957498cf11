// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The epilogue through LDS (ir/ResultRows.h) as a graph. A wave's passes overlap: what a pass reads
// from memory, writes to LDS and reads back is under way while the pass before it is computed and
// stored:
//
//   barrier (where the area lies over the loop's stages)
//   loads, [arithmetic,] LDS writes, LDS reads of pass 0
//   loads, [arithmetic,] LDS writes, LDS reads of pass p + 1; [arithmetic,] stores of pass p
//   barrier (persistent grids: the next tile's loads overwrite the area)
//
// Arithmetic stands before the writes where nothing but the sums goes into it.
#pragma once

#include "ir/LoopBuilder.h"
#include "ir/ResultRows.h"

namespace kw {

void listRowEpilogue(LoopBuilder &builder, const Gemm &gemm, const GemmSchedule &schedule,
                     const Target &target);

} // namespace kw
