// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inner loop of the references: many dot products in double precision at once, in the widest
// vectors that the machine has.
#pragma once

#include <cstdint>

namespace kw {

/// Vectors are padded with zeros to a multiple of this many elements.
inline constexpr std::int64_t dotGranule = 8;

/// For each of `rows` vectors a and `cols` vectors b of `length` elements, one behind the other:
///   sums[row * cols + col]       += sum_k a[k] b[k]
///   magnitudes[row * cols + col] += sum_k |a[k] b[k]|   (unless null)
/// `length` is a multiple of dotGranule.
void addDotProducts(const double *a, std::int64_t rows, const double *b, std::int64_t cols,
                    std::int64_t length, double *sums, double *magnitudes);

} // namespace kw
