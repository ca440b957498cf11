// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From accumulators to the result in memory: conversion and stores, at the positions that
// ir/OperandLayout.h resultPosition gives.
#pragma once

#include "codegen/kernels/OperandAccess.h"

namespace kw {

struct ResultTarget {
  mlir::Value base;       ///< pointer to the tile's first element
  mlir::Value bytes;      ///< i32: from there to the end of what may be written
  mlir::Value pitchBytes; ///< i32
  mlir::Value columns; ///< i32: columns of the tile that exist; null: all. Absent rows lie behind
                       ///< the buffer's end.
  ElementType type = ElementType::bf16;
};

struct ResultFragments {
  int size = 16;                          ///< of the matrix instruction: 16 or 32
  int rows = 0, columns = 0;              ///< fragments of the wave's tile
  std::vector<int> firstRow, firstColumn; ///< per wave: where its tile begins
  bool swapped = false;                   ///< four registers are neighbours along n: one store
};

/// `accumulator(row, column)` gives the fragments.
void emitResult(KernelShell &shell, const ResultTarget &target, const ResultFragments &fragments,
                const WorkItem &item,
                llvm::function_ref<mlir::Value(int row, int column)> accumulator);

} // namespace kw
