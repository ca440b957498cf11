// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scales that change along k, in the loop of a matrix product. Those of scale=tensor and scale=row
// don't: they are factors of the epilogue (GemmResult.h).
//
//   mx        one E8M0 byte per row (or column) and 32 elements of k, an operand of the scaled
//   matrix
//             instruction: a lane holds that of row l mod M, block l / M; four to a register,
//             chosen by op_sel [gfx950.md 2.3]
//   block128  f32 per row of a, and per 128 columns of b, and 128 elements of k: matrix
//   instructions
//             of 128 k make a partial sum, which is multiplied by both scales and added by vector
//             instructions
//
// Scales are loaded to registers, a wave its own, for a step ahead. They are taken as packed by
// tile, so that those of a step are contiguous, as public kernels have them: prepared with the
// weights, and by whoever quantises the activations.
#pragma once

#include "ir/KernelPlan.h"
#include "ir/OperandLayout.h"

namespace kw {

/// What a wave loads of one operand's scales for one step, and keeps.
struct ScaleTile {
  TileOperand operand = TileOperand::none; ///< scaleA or scaleB
  int loads = 0;                           ///< of one lane
  int bytes = 0;                           ///< a lane and load
  int registers = 0;                       ///< of one step
  std::int64_t stepBytes = 0;              ///< of the whole workgroup's tile
};
Inline<ScaleTile, 2> scaleTiles(const Gemm &gemm, const GemmSchedule &schedule);

/// Steps between the load of scales and their use.
int scalesAhead(const GemmSchedule &schedule);

/// scale=block128: what one wave does for the partial sums of one fragment and 128 elements of k.
struct BlockScaling {
  int slices = 0;       ///< matrix instructions that make one partial sum; 0: no such scaling
  int instructions = 0; ///< vector instructions that scale and add it
  int lag = 0;          ///< products issued between its last one and them
  /// Fragments whose partial sums live at the same time: all where a sum takes several slices,
  /// which are walked outside.
  int liveFragments = 0;
};
BlockScaling blockScaling(const Gemm &gemm, const GemmSchedule &schedule);

/// VGPRs of scales and partial sums.
int scaleRegisters(const Gemm &gemm, const GemmSchedule &schedule);

/// Traffic of the scales of one operand.
TileTraffic scaleTraffic(const ScaleTile &scale);

} // namespace kw
