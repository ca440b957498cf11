// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RMSNorm in double precision from the typed inputs, a row at a time.
#pragma once

#include "ir/ops/RmsNorm.h"
#include "ir/support/Expected.h"

#include <cstdint>
#include <vector>

namespace kw {

/// Fails for what is not covered: quantised results.
Expected<void> checkReferenceCovers(const RmsNorm &norm);

/// x + residual of `row`, not rounded. Rows are contiguous.
std::vector<double> referenceSum(const RmsNorm &norm, const std::uint8_t *x,
                                 const std::uint8_t *residual, std::int64_t row);

/// s / sqrt(mean(s^2) + eps) * weight for the typed row `s` (element `row * cols` on): x itself, or
/// with a residual the *rounded* sum, which is a result. `weight` may be null: 1.
std::vector<double> referenceNorm(const RmsNorm &norm, const std::uint8_t *s,
                                  const std::uint8_t *weight, std::int64_t row);

} // namespace kw
