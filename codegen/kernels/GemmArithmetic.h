// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// alpha, beta and the epilogue's steps on vectors of f32.
#pragma once

#include "codegen/kernels/KernelShell.h"
#include "ir/ops/Gemm.h"

#include <mlir/IR/ValueRange.h>

namespace kw {

/// `values`: a vector of f32 or i32, sums of products. `inputs`: vectors of f32 in the order of
/// ir/plans/GemmResult.h resultInputs.
mlir::Value finishedResult(KernelShell &shell, const Gemm &gemm, mlir::Value values,
                           mlir::ValueRange inputs);

/// The same number in all elements of a vector.
mlir::Value splat(TileBuilder &tiles, mlir::Value value, int count);

/// `count` elements of a matrix, as bits, as f32.
mlir::Value asFloats(TileBuilder &tiles, ElementType type, int count, mlir::Value bits);
/// A vector of f32 (or of i32, which stays) in the result's type.
mlir::Value roundedTo(TileBuilder &tiles, ElementType type, mlir::Value values);

} // namespace kw
