// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operator of a mixture of experts: each of `tokens` tokens is multiplied by the weights of
// `topk` different groups. Rows are sorted by group: row r of the result belongs to token ids[r],
//   C[r,:] = epilogue(sum_k A[ids[r],k] B[group of r][k,:]).
// With `swiglu` n counts the columns of the product, gate and up, and a row of the result has n
// / 2.
#pragma once

#include "ir/ops/Gemm.h"
#include "ir/support/Expected.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

enum class RoutingKind : std::uint8_t {
  uniform, ///< every group is as likely
  zipf,    ///< group g in proportion to (g + 1)^-exponent
  file,    ///< rows of each group, one number a group
};

/// Groups of the same height.
struct GroupHeight {
  std::int64_t rows = 0, groups = 0;
  bool operator==(const GroupHeight &) const = default;
};

struct GroupedGemm {
  std::int64_t groups = 0, tokens = 0, topk = 0;
  RoutingKind routing = RoutingKind::uniform;
  double exponent = 0;     ///< of zipf
  std::string routingFile; ///< of file
  /// The product of one group: n, k, types, scales, order of b, epilogue, strides. m and batch
  /// follow from the heights: rows of the tallest group, number of groups that have rows.
  Gemm product;
  /// Groups that have rows, tallest first: expected ones unless they were given. Empty: the file
  /// was not read yet. No part of the identity of a problem.
  std::vector<GroupHeight> heights;

  bool operator==(const GroupedGemm &other) const;

  std::int64_t rows() const { return tokens * topk; }
  std::int64_t activeGroups() const { return product.batch; }
  /// Columns of the result.
  std::int64_t resultColumns() const { return product.n / product.columnsPerResult(); }
};

/// What `routing` lets expect, deterministic: as many groups have rows as do on average, the most
/// likely ones, in proportion to their likelihood; none has more rows than there are tokens.
std::vector<std::int64_t> expectedGroupRows(const GroupedGemm &op);

/// Takes the rows of each group as they are. The error says which number doesn't fit: one a group,
/// 0 to `tokens`, tokens * topk in all.
Expected<void> setGroupRows(GroupedGemm &op, std::span<const std::int64_t> rows);

/// The same from the text of a routing file: integers, separated by blanks or ends of lines.
Expected<void> readGroupRows(GroupedGemm &op, std::string_view text);

} // namespace kw
