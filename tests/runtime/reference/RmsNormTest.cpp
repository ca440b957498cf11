// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/reference/RmsNorm.h"

#include "runtime/Numbers.h"

#include <cmath>
#include <gtest/gtest.h>
#include <initializer_list>
#include <vector>

namespace kw {
namespace {

std::vector<std::uint8_t> typed(ElementType type, std::initializer_list<double> values) {
  std::vector<std::uint8_t> bytes(
      static_cast<std::size_t>(bytesOf(type, static_cast<std::int64_t>(values.size()))));
  std::int64_t i = 0;
  for (const double value : values) {
    storeBits(type, bytes.data(), i++, encodeNumber(type, value));
  }
  return bytes;
}

TEST(ReferenceRmsNorm, HandWorked) {
  RmsNorm norm;
  norm.rows = 2;
  norm.cols = 4;
  norm.eps = 0.5;
  const auto x = typed(norm.type, {9, 9, 9, 9, 1, -1, 2, 0}); // row 1: mean square 1.5
  const auto weight = typed(norm.type, {1, 2, -3, 4});
  const std::vector<double> y = referenceNorm(norm, x.data(), weight.data(), 1);
  const double factor = 1 / std::sqrt(2.0);
  EXPECT_DOUBLE_EQ(y[0], factor);
  EXPECT_DOUBLE_EQ(y[1], -2 * factor);
  EXPECT_DOUBLE_EQ(y[2], -6 * factor);
  EXPECT_EQ(y[3], 0);
  EXPECT_DOUBLE_EQ(referenceNorm(norm, x.data(), nullptr, 1)[2], 2 * factor);
}

TEST(ReferenceRmsNorm, TheSumIsNotRounded) {
  RmsNorm norm;
  norm.rows = 1;
  norm.cols = 2;
  const auto x = typed(norm.type, {256, 1});
  const auto residual = typed(norm.type, {1, 2});
  EXPECT_EQ(referenceSum(norm, x.data(), residual.data(), 0), (std::vector<double>{257, 3}));
}

TEST(ReferenceRmsNorm, SaysWhatIsNotCovered) {
  RmsNorm norm;
  EXPECT_TRUE(checkReferenceCovers(norm));
  norm.quantised = true;
  EXPECT_FALSE(checkReferenceCovers(norm));
}

} // namespace
} // namespace kw
