// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalars as the passes and kernels write them all the time.
#pragma once

#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/IR/Builders.h>

namespace kw {

inline mlir::Value i32Constant(mlir::OpBuilder &builder, mlir::Location loc, std::int64_t value) {
  return mlir::LLVM::ConstantOp::create(
      builder, loc, builder.getI32Type(),
      builder.getI32IntegerAttr(static_cast<std::int32_t>(value)));
}

/// `value + constant`, and just `value` for 0.
inline mlir::Value addConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                               std::int64_t constant) {
  if (constant == 0) {
    return value;
  }
  return mlir::LLVM::AddOp::create(builder, loc, value, i32Constant(builder, loc, constant));
}

/// Pointer `base + offset` bytes.
inline mlir::Value bytePointer(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value base,
                               mlir::Value offset) {
  return mlir::LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                                   mlir::ArrayRef<mlir::LLVM::GEPArg>{offset});
}

} // namespace kw
