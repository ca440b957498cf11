// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From accumulators to the result in memory: what the epilogue reads, its arithmetic, conversion
// and stores, at the positions that ir/OperandLayout.h resultPosition gives.
#pragma once

#include "codegen/kernels/OperandAccess.h"
#include "ir/ops/Gemm.h"

namespace kw {

/// The output tile's part of the result, or of an input of the same shape.
struct ResultMatrix {
  mlir::Value base;       ///< pointer to the tile's first element
  mlir::Value bytes;      ///< i32: from there to the end of what may be touched
  mlir::Value pitchBytes; ///< i32; null: one row for all (bias)
  ElementType type = ElementType::bf16;
};

struct ResultTarget {
  ResultMatrix result;
  std::vector<ResultMatrix> inputs; ///< in the order of ir/plans/GemmResult.h resultInputs
  mlir::Value columns; ///< i32: columns of the tile that exist; null: all. Absent rows lie behind
                       ///< the buffers' ends.
};

struct ResultFragments {
  int size = 16;                          ///< of the matrix instruction: 16 or 32
  int rows = 0, columns = 0;              ///< fragments of the wave's tile
  std::vector<int> firstRow, firstColumn; ///< per wave: where its tile begins
  bool swapped = false;                   ///< four registers are neighbours along n: one store
  bool exchanged = false; ///< and lanes exchange halves, so that eight are (exchangedPosition)
};

/// `accumulator(row, column)` gives the fragments.
void emitResult(KernelShell &shell, const Gemm &gemm, const ResultTarget &target,
                const ResultFragments &fragments, const WorkItem &item,
                llvm::function_ref<mlir::Value(int row, int column)> accumulator);

} // namespace kw
