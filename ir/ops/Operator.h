// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a family supplies to Problem.cpp: its keys, how they are read and printed, its tensors and
// its arithmetic. One file of the family's name in ir/ops/.
#pragma once

#include "ir/Problem.h"
#include "ir/support/KeyValues.h"

#include <span>

namespace kw {

struct Operator {
  Family family = Family::gemm;
  std::string_view name;
  std::span<const Key> keys;
  /// Complains into `values`; the result counts only without a complaint.
  Problem (*read)(KeyValues &values) = nullptr;
  /// The canonical keys; `compiledOnly` leaves out what is a run-time argument of the kernels.
  void (*print)(const Problem &problem, KeyPrinter &printer, bool compiledOnly) = nullptr;
  std::vector<Tensor> (*tensors)(const Problem &problem) = nullptr;
  double (*flops)(const Problem &problem) = nullptr;
  /// Fraction of a tensor that has to be moved at all; nullptr: all of it.
  double (*usedShare)(const Problem &problem, const Tensor &tensor) = nullptr;
};

/// Fraction of a tensor that is moved at all: of what the problem defines.
double movedShare(const Problem &problem, const Tensor &tensor);

const Operator &gemmOperator();
const Operator &rmsNormOperator();
const Operator &attentionOperator();
const Operator &groupedGemmOperator();
const Operator &topKOperator();

/// Largest value of a size or a leading dimension: they travel as 32-bit kernel arguments.
inline constexpr std::int64_t largestSize = 2147483647;
/// Largest tensor, bytes: keeps every offset far from 64-bit overflow.
inline constexpr std::int64_t largestTensorBytes = std::int64_t(1) << 50;

/// Text of the range of sizes, for `Key::accepts`.
inline constexpr std::string_view sizeRange = "an integer from 1 to 2147483647";

} // namespace kw
