// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operator C[m,n] = epilogue(alpha * sum_k A[m,k] B[k,n] + beta * C[m,n]), dense and batched.
#pragma once

#include "ir/ElementType.h"

#include <boost/container/static_vector.hpp>
#include <cstdint>
#include <string>

namespace kw {

enum class ScaleMode : std::uint8_t { none, tensor, row, block128, mx };

/// Elements of k that share a scale with scale=mx, and with scale=block128 (there also columns of
/// b).
inline constexpr int mxBlock = 32, scaleBlock = 128;

/// The last two belong to grouped products: silu(gate) * up of neighbouring halves of n, and the
/// router's weight of a row.
enum class EpilogueKind : std::uint8_t {
  bias,
  silu,
  gelu,
  relu,
  mul,
  add,
  quant,
  swiglu,
  weight,
};

struct EpilogueStep {
  EpilogueKind kind = EpilogueKind::bias;
  ElementType type = ElementType::fp8; ///< of `quant`
  bool operator==(const EpilogueStep &) const = default;
};

/// Sizes and strides in elements. A stride of 0 in `lda ldb ldc sa sb sc` is never "default": the
/// parser fills in the contiguous value (batch strides may be 0: broadcast).
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  ElementType aType = ElementType::bf16, bType = ElementType::bf16;
  ElementType outType = ElementType::bf16, accType = ElementType::f32;
  ScaleMode aScale = ScaleMode::none, bScale = ScaleMode::none;
  bool aTransposed = false; ///< false: `a=mk` (k contiguous), true: `a=km`
  bool bTransposed = false; ///< false: `b=kn` (n contiguous), true: `b=nk` (k contiguous)
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  std::int64_t sa = 0, sb = 0, sc = 0;
  double alpha = 1, beta = 0;
  boost::container::static_vector<EpilogueStep, 8> epilogue;
  bool preshuffle = false;

  bool operator==(const Gemm &) const = default;

  /// As in a problem's text: "bias,gelu".
  std::string epilogueText() const;
  /// Columns of the product that make one of the result: 2 with swiglu.
  int columnsPerResult() const;
  bool aKContiguous() const { return !aTransposed; }
  bool bKContiguous() const { return bTransposed; }
};

} // namespace kw
