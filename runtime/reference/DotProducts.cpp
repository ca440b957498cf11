// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/reference/DotProducts.h"

#include <cassert>

// Highway compiles this file once per vector instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/reference/DotProducts.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kw::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<double, 8>;

/// A block of blockRows x blockCols dot products, kept in registers.
template <int blockRows, int blockCols, bool withMagnitudes> struct Block {
  static void add(const double *a, const double *b, std::int64_t length, std::int64_t pitch,
                  double *sums, double *magnitudes) {
    const Lanes lanes;
    using Vector = hn::Vec<Lanes>;
    Vector sum[blockRows][blockCols];
    Vector magnitude[blockRows][blockCols];
    for (int i = 0; i < blockRows; ++i) {
      for (int j = 0; j < blockCols; ++j) {
        sum[i][j] = hn::Zero(lanes);
        magnitude[i][j] = hn::Zero(lanes);
      }
    }
    for (std::int64_t k = 0; k < length; k += static_cast<std::int64_t>(hn::Lanes(lanes))) {
      for (int j = 0; j < blockCols; ++j) {
        const Vector right = hn::LoadU(lanes, b + j * length + k);
        for (int i = 0; i < blockRows; ++i) {
          const Vector left = hn::LoadU(lanes, a + i * length + k);
          sum[i][j] = hn::MulAdd(left, right, sum[i][j]);
          if constexpr (withMagnitudes) {
            magnitude[i][j] = hn::MulAdd(hn::Abs(left), hn::Abs(right), magnitude[i][j]);
          }
        }
      }
    }
    for (int i = 0; i < blockRows; ++i) {
      for (int j = 0; j < blockCols; ++j) {
        sums[i * pitch + j] += hn::GetLane(hn::SumOfLanes(lanes, sum[i][j]));
        if constexpr (withMagnitudes) {
          magnitudes[i * pitch + j] += hn::GetLane(hn::SumOfLanes(lanes, magnitude[i][j]));
        }
      }
    }
  }
};

template <bool withMagnitudes>
void addAll(const double *a, std::int64_t rows, const double *b, std::int64_t cols,
            std::int64_t length, double *sums, double *magnitudes) {
  constexpr int blockRows = 4;
  constexpr int blockCols = 2;
  const auto magnitudeAt = [&](std::int64_t row, std::int64_t col) {
    return withMagnitudes ? magnitudes + row * cols + col : nullptr;
  };
  std::int64_t col = 0;
  for (; col + blockCols <= cols; col += blockCols) {
    std::int64_t row = 0;
    for (; row + blockRows <= rows; row += blockRows) {
      Block<blockRows, blockCols, withMagnitudes>::add(a + row * length, b + col * length, length,
                                                       cols, sums + row * cols + col,
                                                       magnitudeAt(row, col));
    }
    for (; row < rows; ++row) {
      Block<1, blockCols, withMagnitudes>::add(a + row * length, b + col * length, length, cols,
                                               sums + row * cols + col, magnitudeAt(row, col));
    }
  }
  for (; col < cols; ++col) {
    for (std::int64_t row = 0; row < rows; ++row) {
      Block<1, 1, withMagnitudes>::add(a + row * length, b + col * length, length, cols,
                                       sums + row * cols + col, magnitudeAt(row, col));
    }
  }
}

void addDotProductsHere(const double *a, std::int64_t rows, const double *b, std::int64_t cols,
                        std::int64_t length, double *sums, double *magnitudes) {
  if (magnitudes != nullptr) {
    addAll<true>(a, rows, b, cols, length, sums, magnitudes);
  } else {
    addAll<false>(a, rows, b, cols, length, sums, nullptr);
  }
}

} // namespace kw::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kw {

HWY_EXPORT(addDotProductsHere);

void addDotProducts(const double *a, std::int64_t rows, const double *b, std::int64_t cols,
                    std::int64_t length, double *sums, double *magnitudes) {
  assert(length % dotGranule == 0 && "padded vectors");
  HWY_DYNAMIC_DISPATCH(addDotProductsHere)(a, rows, b, cols, length, sums, magnitudes);
}

} // namespace kw
#endif
