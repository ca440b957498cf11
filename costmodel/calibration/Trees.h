// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum of regression trees as flat arrays: what a boosting library has fitted, evaluated without
// it. Immutable, no allocation per evaluation.
#pragma once

#include "ir/support/Expected.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

namespace kw {

/// Stands for an input that is unknown: below every threshold, in the fit as in here.
inline constexpr float missingInput = -1000;

class Trees {
public:
  /// Keys: `roots` (node of each tree), `input`, `threshold`, `left`, `right` (a list each, one
  /// entry a node; a child below 0 is leaf ~child), `leaves` (values). Bad input: lists of unequal
  /// length, an input beyond `inputs`, a child that isn't behind its parent, a leaf that isn't
  /// there.
  static Expected<Trees> parse(const nlohmann::json &json, std::size_t inputs);

  /// Sum over the trees; `inputs` as long as at parse(), no NaN among them.
  double evaluate(std::span<const float> inputs) const;
  std::size_t size() const { return roots.size(); }

private:
  struct Node {
    float threshold = 0; ///< left where input <= threshold
    std::int32_t input = 0, left = 0, right = 0;
  };
  std::vector<std::int32_t> roots;
  std::vector<Node> nodes;
  std::vector<float> leaves;
};

} // namespace kw
