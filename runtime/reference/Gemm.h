// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GEMM in double precision from the typed inputs, for a block of the result.
#pragma once

#include "ir/ops/Gemm.h"
#include "ir/support/Expected.h"

#include <cstdint>
#include <vector>

namespace kw {

struct GemmBlock {
  std::int64_t batch = 0, row = 0, col = 0, rows = 0, cols = 0;
};

/// Row-major, rows x cols.
struct GemmReference {
  std::vector<double> value;     ///< alpha * sum_k a b
  std::vector<double> magnitude; ///< |alpha| * sum_k |a b|
};

/// Fails for what is not covered: scales, quantised results.
Expected<void> checkReferenceCovers(const Gemm &gemm);

/// `a` and `b` start at element 0 of batch 0. Only the rows of A and columns of B that the block
/// needs are read. Without `withMagnitude` the second result stays empty.
GemmReference referenceGemm(const Gemm &gemm, const std::uint8_t *a, const std::uint8_t *b,
                            const GemmBlock &block, bool withMagnitude);

} // namespace kw
