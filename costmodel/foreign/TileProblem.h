// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product of matrices as a foreign kernel sees it: dense, batched, or grouped by expert with the
// expected numbers of a uniform routing. Sizes in elements.
#pragma once

#include "costmodel/KernelProfile.h"
#include "costmodel/foreign/MeasuredRows.h"
#include "ir/ElementType.h"
#include "ir/Target.h"
#include "ir/ops/Gemm.h"
#include "ir/support/Expected.h"

#include <cstdint>
#include <string>

namespace kw {

struct TileProblem {
  std::int64_t n = 0, k = 0;
  /// Products: entries of a batch, or experts that have any rows (expected number).
  double products = 1;
  double rows = 0; ///< of a, of one product (mean)
  /// Grouped: rows of a product are binomial, `routed` of them in all over `experts`.
  bool grouped = false;
  double routed = 0, experts = 1;
  ElementType a = ElementType::bf16, b = ElementType::bf16, out = ElementType::bf16;
  ScaleMode scale = ScaleMode::none;
  bool preshuffled = false; ///< b is packed for loads in fragment order
  bool gated = false;       ///< the epilogue multiplies pairs of columns: n / 2 are written
  /// Rows of the product that are added into one of the result (experts of a token).
  double rowsPerResult = 1;
  double readsA = 0; ///< distinct bytes of a, if not rows x k of every product; 0: these

  double flops() const { return 2 * products * rows * double(n) * double(k); }
};

/// Tiles of `height` rows over all products, and the mean of rows that they use.
struct RowTiles {
  double tiles = 0, useful = 0;
};
RowTiles rowTiles(const TileProblem &problem, int height);

/// What the model reads of it.
ProblemFacts problemFacts(const TileProblem &problem);

/// A table's word for a type; the error names the column and the word.
Expected<ElementType> elementTypeOf(std::string_view column, const std::string &text);

/// The error names the type or scale that isn't known.
Expected<TileProblem> gemmProblem(const MeasuredRow &row);
/// The product of stage 1 (gate and up) or 2 (down).
Expected<TileProblem> moeProblem(const MeasuredRow &row, int stage);

} // namespace kw
