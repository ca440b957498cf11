// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operator top-k: of each row of x the k largest (or smallest) elements with their columns.
#pragma once

#include "ir/ElementType.h"

#include <cstdint>

namespace kw {

struct TopKSelection {
  std::int64_t rows = 0, cols = 0, k = 0;
  ElementType type = ElementType::f32; ///< of x and the values
  bool largest = true;
  bool sorted = true; ///< best first; else in any order
  ElementType indexType = ElementType::i64;

  bool operator==(const TopKSelection &) const = default;
};

} // namespace kw
