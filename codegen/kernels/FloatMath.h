// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short names for f32 arithmetic of kernels, and for taking vectors apart and putting them
// together.
#pragma once

#include "codegen/kernels/TileBuilder.h"

namespace kw {

class FloatMath {
public:
  explicit FloatMath(TileBuilder &tiles) : tiles(tiles) {}

  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value negate(mlir::Value a);
  mlir::Value maximum(mlir::Value a, mlir::Value b); ///< neither is NaN
  mlir::Value exp2(mlir::Value a);                   ///< v_exp_f32: one instruction, 1 ulp
  mlir::Value log2(mlir::Value a);                   ///< v_log_f32; of 0: -infinity
  mlir::Value reciprocal(mlir::Value a);             ///< v_rcp_f32: 1 ulp
  /// 1 / a, and 0 for a = 0.
  mlir::Value reciprocalOrZero(mlir::Value a);
  /// Over the lanes whose indices are equal mod `stride`; every lane gets the result.
  mlir::Value acrossLanes(bool isMaximum, int stride, mlir::Value value);

  mlir::Value element(mlir::Value vector, int index);
  mlir::Value vector(mlir::ArrayRef<mlir::Value> elements);
  mlir::Value splat(mlir::Value scalar, int count);
  mlir::Value part(mlir::Value vector, int first, int count);
  /// To `type`, rounding to nearest even.
  mlir::Value round(mlir::Value vector, ElementType type);
  mlir::Value bits(mlir::Value vector, int bytes);

private:
  mlir::Value intrinsic(llvm::StringRef name, mlir::Value a);
  TileBuilder &tiles;
};

} // namespace kw
