// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graphs of an RMSNorm's regions, for one wave of a row. A piece is one vector a lane.
//
//   one pass   mainLoop, once: loads of all pieces (x, residual; then weight), squares piece by
//   piece
//              epilogue, once: scale and store piece by piece, from registers
//   two passes mainLoop, a trip a piece: loads of the next piece, squares of this one
//              epilogue, a trip a piece: the same with scale and store; x, residual are read again
//   between    reduction: over the lanes of the wave, then over the row's waves through LDS
//
// Loads go to registers, so LLVM places their waits; there are no wait operations for them.
#pragma once

#include "ir/LoopBuilder.h"
#include "ir/plans/Plans.h"

namespace kw {

/// Pieces of a lane: vectors of `vectorBytes` that cover the row.
std::int64_t rowPieces(const RmsNorm &norm, const RmsNormSchedule &schedule);

UnfinishedLoop rmsNormLoop(const RmsNorm &norm, const RmsNormSchedule &schedule,
                           const Target &target, RegionKind region);

} // namespace kw
