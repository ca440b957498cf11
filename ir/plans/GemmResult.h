// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The result side of a GEMM: what is read beside the accumulators and computed before the result is
// rounded: alpha, beta * c, then the steps of `epilogue` in their order, all in f32.
#pragma once

#include "ir/KernelPlan.h"

namespace kw {

/// A matrix like the result, one row for all of its rows (bias, scales of b's columns), or one
/// column (scales of a's rows, router weights).
struct ResultInput {
  TileOperand operand = TileOperand::none;
  ElementType type = ElementType::bf16;
  bool oneRow = false;
  std::int64_t pitch = 0; ///< elements from row to row; c's is a run-time argument
  bool oneColumn = false;
};
/// Scales of scale=row, c where beta is not 0, then bias, aux, aux2 and router weights in the order
/// of the epilogue's steps.
Inline<ResultInput, 7> resultInputs(const Gemm &gemm);

/// Loads of one input for one fragment: of four neighbours along n with swapped operands, else of
/// single elements, of which a bias has one for all rows. Through LDS: for one pass, as wide as the
/// stores.
struct ResultLoads {
  int loads = 0, bytes = 0; ///< instructions; bytes a lane and instruction
};
ResultLoads resultLoads(const Gemm &gemm, const GemmSchedule &schedule, const ResultInput &input);

/// Vector instructions for one register of a fragment, without the conversion to the output type.
struct ResultArithmetic {
  int instructions = 0, transcendentals = 0; ///< the latter among the former
};
ResultArithmetic resultArithmetic(const Gemm &gemm);

/// VGPRs of the inputs of two fragments (one is loaded while the other is computed), an element
/// each whatever the epilogue's path, and of the arithmetic; 0 without inputs and steps. Through
/// LDS: of two passes, and of what is read back where accumulators don't leave their VGPRs to it.
int resultRegisters(const Gemm &gemm, const GemmSchedule &schedule);

} // namespace kw
