// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer expressions of run-time sizes, as they stand in manifests: guards ("k % 64 == 0",
// "m >= 1 and m <= 4096") and grids ("ceildiv(m, 128) * 32"). The Python loader evaluates the same.
//
//   or, and, not, == != < <= > >=, + -, * / %, unary -, parentheses, integers, names,
//   min(a, b), max(a, b), ceildiv(a, b);  / is floor division, division by zero is an error
#pragma once

#include "ir/support/Expected.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kw {

using SizeValues = std::vector<std::pair<std::string, std::int64_t>>;

/// Comparisons give 0 or 1. The error says what is wrong and where: syntax, unknown name, overflow.
Expected<std::int64_t> evaluate(std::string_view expression, const SizeValues &sizes);

} // namespace kw
