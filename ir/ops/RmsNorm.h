// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operator y = s / sqrt(mean(s^2) + eps) * weight over rows, with s = x (+ residual). With a
// residual the sum s is a second result.
#pragma once

#include "ir/ElementType.h"

#include <cstdint>

namespace kw {

struct RmsNorm {
  std::int64_t rows = 0, cols = 0;
  ElementType type = ElementType::bf16;    ///< of x, residual, weight and the sum
  ElementType outType = ElementType::bf16; ///< of y
  bool weight = true, residual = false;
  double eps = 1e-6;
  bool quantised = false; ///< quant=fp8: y is fp8 with one f32 scale per row

  bool operator==(const RmsNorm &) const = default;
};

} // namespace kw
