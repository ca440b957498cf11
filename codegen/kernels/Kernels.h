// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a plan to a tile program in the `kw` dialect: one file per operator family, each visits the
// regions and scheduled operations of its KernelPlan and decides nothing itself.
#pragma once

#include "ir/KernelPlan.h"

#include <mlir/Dialect/GPU/IR/GPUDialect.h>

namespace kw {

struct KernelRequest {
  const Problem &problem;
  const Schedule &schedule;
  const Target &target;
};

/// Adds the kernels of all launches to `module`. The schedule must be legal.
void emitGemm(mlir::gpu::GPUModuleOp module, const KernelRequest &request);
void emitRmsNorm(mlir::gpu::GPUModuleOp module, const KernelRequest &request);
void emitAttention(mlir::gpu::GPUModuleOp module, const KernelRequest &request);
/// The second launch of the above.
void emitAttentionCombine(mlir::gpu::GPUModuleOp module, const KernelRequest &request,
                          const LaunchPlan &launch, const LaunchInterface &interface);

} // namespace kw
