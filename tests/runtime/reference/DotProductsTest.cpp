// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/reference/DotProducts.h"

#include "runtime/RandomValues.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace kw {
namespace {

std::vector<double> integers(std::size_t count, std::uint64_t seed) {
  RandomSource source{RandomSource::Kind::integers, seed};
  source.range = 50;
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = source.value(i);
  }
  return values;
}

/// Integers, so that the order of the sum does not matter and equality is exact.
TEST(DotProducts, AnyNumberOfRowsAndColumns) {
  constexpr std::int64_t length = 40;
  for (std::int64_t rows = 1; rows <= 9; ++rows) {
    for (std::int64_t cols = 1; cols <= 5; ++cols) {
      const std::vector<double> a = integers(static_cast<std::size_t>(rows * length), 1);
      const std::vector<double> b = integers(static_cast<std::size_t>(cols * length), 2);
      std::vector<double> sums(static_cast<std::size_t>(rows * cols), 3.0);
      std::vector<double> magnitudes(sums.size(), 5.0);
      std::vector<double> alone(sums.size(), 3.0);
      addDotProducts(a.data(), rows, b.data(), cols, length, sums.data(), magnitudes.data());
      addDotProducts(a.data(), rows, b.data(), cols, length, alone.data(), nullptr);
      EXPECT_EQ(sums, alone);
      for (std::int64_t i = 0; i < rows * cols; ++i) {
        double sum = 3;
        double magnitude = 5;
        for (std::int64_t k = 0; k < length; ++k) {
          const double product = a[static_cast<std::size_t>(i / cols * length + k)] *
                                 b[static_cast<std::size_t>(i % cols * length + k)];
          sum += product;
          magnitude += std::fabs(product);
        }
        EXPECT_EQ(sums[static_cast<std::size_t>(i)], sum) << rows << 'x' << cols << " at " << i;
        EXPECT_EQ(magnitudes[static_cast<std::size_t>(i)], magnitude);
      }
    }
  }
}

} // namespace
} // namespace kw
