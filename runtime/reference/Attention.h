// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention in double precision from the typed inputs, for query rows that share a head of k and v.
// Two passes over k and v, without the running maximum of the kernels.
#pragma once

#include "ir/ops/Attention.h"
#include "ir/support/Expected.h"

#include <cstdint>
#include <span>
#include <vector>

namespace kw {

/// `heads` query heads from `head` on, all of one group, times `rows` queries from `row` on.
struct AttentionBlock {
  std::int64_t batch = 0, head = 0, row = 0, heads = 1, rows = 1;
};

/// A query by its head and row.
struct AttentionQuery {
  std::int64_t head = 0, row = 0;
  bool operator==(const AttentionQuery &) const = default;
};

/// What is known of one query row, beside its results: what the error of a kernel depends on.
struct AttentionRow {
  std::int64_t visible = 0;   ///< columns that the mask lets through
  double lse = 0;             ///< log of the sum of exponentials; -infinity: no visible column
  double largestScore = 0;    ///< max |scale q k|
  double largestProducts = 0; ///< max scale sum |q k| over the elements of the head
  double belowMaximum = 0;    ///< share of the weights of columns whose score isn't the maximum
  double inverseMaximum = 0;  ///< 1 / sum of exp(score - maximum): the weight of the maximum
};

/// Rows in the order of the queries.
struct AttentionReference {
  std::vector<AttentionRow> rows;
  std::vector<double> value;     ///< rows x dv: sum of weight v; 0 for a row without visible column
  std::vector<double> magnitude; ///< rows x dv: sum of weight |v|
  std::vector<double> absolute;  ///< dv: sum of |v| over all columns
};

/// Fails for what is not covered: other masks than none and causal, score modifications, v within
/// k, ragged and paged k and v, sinks.
Expected<void> checkReferenceCovers(const Attention &attention);

/// Columns that query `row` sees: the first so many. A causal mask is aligned bottom right, so that
/// with sq > skv the first queries see none.
std::int64_t visibleColumns(const Attention &attention, std::int64_t row);

/// Of queries of one batch entry and one group of heads, in any order: k and v are read once for
/// all of them. Tensors start at element 0 of batch entry 0.
AttentionReference referenceAttention(const Attention &attention, const std::uint8_t *q,
                                      const std::uint8_t *k, const std::uint8_t *v,
                                      std::int64_t batch, std::span<const AttentionQuery> queries);

} // namespace kw
