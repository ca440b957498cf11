// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From accumulators to the result through LDS (ir/ResultRows.h): in the order of the plan's graph
// (ir/plans/GemmRowsLoop.h), a pass's LDS accesses and loads in front of the arithmetic and stores
// of the pass before it.
#pragma once

#include "codegen/kernels/GemmEpilogue.h"
#include "ir/ResultRows.h"

namespace kw {

/// `lds`: where the first wave's area begins. No other wave may access a wave's area from here on.
void emitRows(KernelShell &shell, const Gemm &gemm, const ResultTarget &target,
              const ResultFragments &fragments, const ResultRows &rows, mlir::Value lds,
              const WorkItem &item,
              llvm::function_ref<mlir::Value(int row, int column)> accumulator);

} // namespace kw
