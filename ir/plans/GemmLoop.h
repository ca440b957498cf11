// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graphs of a GEMM's regions. Iteration i of the main loop computes K step i from LDS stage
// i mod S (S stages, P prefetch). In serial order:
//
//   wait   direct loads of step i have landed; LDS writes of this wave are done
//   barrier  also: every wave has read stage (i-1) mod S
//   lds path, P = S:    wait, write step i+S-1, load step i+P
//   lds path, P = S-1:  load step i+P
//   direct path:        load step i+S-1 into stage (i+S-1) mod S = (i-1) mod S
//   registers path:     load step i+P, wait for the fragments of step i
//   LDS reads, matrix instructions of step i
//   lds path, P = S-1:  wait, write step i+S-1
//
// With fragments=F (F > 0) the barrier moves into the middle, so that matrix work never waits for
// LDS:
//
//   lds path, P = S:    wait, write step i+S-1, load step i+P
//   lds path, P = S-1:  load step i+P
//   LDS reads of slices F.. of step i; matrix instructions of slices below F
//   lds path, P = S-1:  wait, write step i+S-1
//   wait   direct loads of step i+1 have landed; LDS writes and all reads so far are done
//   barrier  publishes step i+1; every wave has read stage i mod S
//   direct path:        load step i+S into stage i mod S
//   LDS reads of slices below F of step i+1; matrix instructions of slices F.. of step i
//
// (F all slices: all matrix instructions stand behind the barrier.) Ping-pong halves the slices
// into two clusters; the group that follows is one phase, a barrier, behind the one that leads:
//
//   barrier, reads of the first cluster, load step i+S-1, wait for LDS     | other group multiplies
//   barrier, matrix instructions of the first cluster                      | ... moves data
//   barrier, reads of the second cluster, wait for LDS and for step i+1    | ... multiplies
//   barrier, matrix instructions of the second cluster                     | ... moves data
//
// With one stage everything of step i happens within iteration i (but for lds-path loads with
// P = 1): barrier, direct loads, [loads,] wait, write, wait, barrier, reads, matrix.
#pragma once

#include "ir/LoopBuilder.h"
#include "ir/OperandLayout.h"
#include "ir/plans/Plans.h"

namespace kw {

UnfinishedLoop gemmLoop(const Gemm &gemm, const GemmSchedule &schedule, const Target &target,
                        const Region &region);

/// Fragment (row, column) of matrix instruction `index` of a slice: serpentine, so that neighbours
/// share an operand. The longer side is walked outside: the other side's fragments stay live.
struct FragmentPair {
  int row = 0, column = 0;
  bool operator==(const FragmentPair &) const = default;
};
FragmentPair serpentine(int rows, int columns, int index);

} // namespace kw
