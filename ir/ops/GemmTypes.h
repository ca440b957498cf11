// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys that the families of matrix products share: operand, result and accumulator types, scales,
// epilogue.
#pragma once

#include "ir/ops/Operator.h"

#include <array>
#include <optional>
#include <string>

namespace kw {

/// In the order of ScaleMode.
inline constexpr std::array<std::string_view, 5> scaleNames{"none", "tensor", "row", "block128",
                                                            "mx"};
inline constexpr std::array<std::string_view, 7> outNames{"f32", "f16", "bf16", "fp8",
                                                          "bf8", "i8",  "i32"};
inline constexpr std::array<std::string_view, 2> accNames{"f32", "i32"};
inline constexpr std::array<std::string_view, 2> bOrders{"kn", "nk"};
/// What `dtype`, `adtype` and `bdtype` accept.
std::string operandTypeNames();

/// dtype, adtype, bdtype and scale.
void readTypes(KeyValues &values, Gemm &op);
/// acc and out; behind readTypes and readEpilogue, which decide their defaults.
void readResultTypes(KeyValues &values, Gemm &op);
/// `grouped`: swiglu and weight too.
void readEpilogue(KeyValues &values, Gemm &op, bool grouped);
void printTypes(const Gemm &op, KeyPrinter &printer);

/// Scales of an operand of `rows` rows (of a) or columns (of b), `blockRows` of which share those
/// of scale=block128; none: nothing.
std::optional<Tensor> scaleTensor(std::string name, ScaleMode mode, std::int64_t rows,
                                  std::int64_t k, std::int64_t blockRows);

} // namespace kw
