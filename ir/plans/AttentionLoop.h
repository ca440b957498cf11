// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graphs of an attention's regions, for one wave. In decode waves don't meet before the
// reduction: each loads, stages and multiplies its own columns. Iteration i computes step i:
//
//   k direct  wait for K of step i
//   direct    load K, V of step i+S-1 into stage (i+S-1) mod S (S stages); step i-1 has left it
//   k lds     write K of step i to LDS; load K of step i+P (P prefetch)
//   k in LDS  read fragments of K
//   S^T = K Q^T;  k registers: load K of step i+P
//   [diagonal: mask], maximum, exponentials, sums, rescale what is accumulated
//   v lds     write V of step i to LDS; load V of step i+P
//   v direct  wait for V of step i
//   read fragments of V, O^T += V^T P^T
//
// Loads to registers have no wait operations: LLVM places their waits. The `diagonal` region is the
// same body with masks; it does the steps whose columns are not all visible to all rows, those
// behind the sequence among them, and what `unrolledSteps` leaves over.
// In prefill (`rowWaves` above 1) waves share the tiles of k and v; iteration i works for two
// steps, so that the products of one stand beside the softmax of the other:
//
//   wait, barrier  K of step i and V of step i-1 have landed; their last stages are free
//   lds       wait, write K of step i+S-1 and V of step i+S-2, load one step further
//   direct    load K of step i+S-1, V of step i+S-2
//   read K; S^T = K Q^T of step i;  read V; O^T += V^T P^T of step i-1
//   softmax of step i, rescale (`lazy`: a comparison)
//
// The first iteration multiplies weights of zero; O^T of the last step is the epilogue's.
#pragma once

#include "ir/AttentionLayout.h"
#include "ir/LoopBuilder.h"
#include "ir/plans/Plans.h"

namespace kw {

/// `TileOp::piece` of `vector` operations on p; `column` is the fragment of query rows.
enum class SoftmaxPart : std::int16_t {
  mask,    ///< scores of columns that a row doesn't see become -infinity
  maximum, ///< over the registers of a lane
  weights, ///< running maximum, exponentials to operands of the second product, running sum
  rescale, ///< accumulators to the new maximum
  score,   ///< alibi or softcap
  convert, ///< 8-bit elements of k or v to the 16 bits of q
  page,    ///< addresses by the page table
};

/// Steps of one trip of the emitted loops: stages and registers in flight are then static.
int unrolledSteps(const AttentionSchedule &schedule);

/// Splits that a trip of the combining loop takes at once.
int combineChunk(int splits);

/// `combine`: a region of the second launch.
UnfinishedLoop attentionLoop(const Attention &attention, const AttentionSchedule &schedule,
                             const Target &target, RegionKind region, bool combine);

} // namespace kw
