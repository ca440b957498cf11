// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a kernel whose every decision is set to a launch as the model reads it: the same LaunchPlan
// that our own kernels have, and the summaries of its regions' loops. Decisions that are unknown
// are set by TileChoices.h before.
#pragma once

#include "costmodel/LoopSummary.h"
#include "costmodel/foreign/TileKernel.h"
#include "costmodel/foreign/TileProblem.h"
#include "ir/KernelPlan.h"

namespace kw {

/// TileKernel without unknowns.
struct SetTileKernel {
  int tileM = 0, tileN = 0, tileK = 0;
  int wavesM = 1, wavesN = 1, wavesK = 1;
  int mfmaM = 16, mfmaK = 0; ///< mfmaK 0: the fastest instruction
  int operandBytes = 0;      ///< most that an instruction takes of a lane; 0: any number
  bool bInRegisters = false, direct = false;
  TilePipeline pipeline = TilePipeline::overlapped;
  int stages = 1, prefetch = 1;
  int workgroupsPerCu = 0; ///< 0: by registers and LDS
  int splitK = 1;
  TileReduction reduction = TileReduction::last;
  bool persistent = false;
  bool wholeSteps = false; ///< TileKernel's

  int waves() const { return wavesM * wavesN * wavesK; }
};

struct TileLaunch {
  LaunchPlan plan;
  Inline<LoopSummary, 8> loops; ///< of plan.regions
};

/// Multiply-accumulates a clock and SIMD of the kernel's matrix instruction; 0: the target has no
/// instruction for the types.
double matrixRate(const TileProblem &problem, const SetTileKernel &kernel, const Target &target);

TileLaunch tileLaunch(const TileProblem &problem, const SetTileKernel &kernel,
                      const Target &target);

/// Summary of one K step and of what comes before and after all of them (TileLoop.cpp).
LoopSummary tileStep(const TileProblem &problem, const SetTileKernel &kernel, const Target &target);
LoopSummary tilePrologue(const TileProblem &problem, const SetTileKernel &kernel,
                         const Target &target);
LoopSummary tileEpilogue(const TileProblem &problem, const SetTileKernel &kernel,
                         const Target &target);
LoopSummary tileReduction(const TileProblem &problem, const SetTileKernel &kernel,
                          const Target &target);

} // namespace kw
