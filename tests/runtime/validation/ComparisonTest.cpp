// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/validation/Comparison.h"

#include "runtime/HostBuffer.h"
#include "runtime/Numbers.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace kw {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A 2 x 3 result of pitch 4.
class ComparisonTest : public testing::Test {
protected:
  ComparisonTest() : bytes(7 * 2, HostBuffer::poison) {
    entry.tensor = {"c", BufferRole::output, ElementType::bf16, {2, 3}, {4, 1}};
    entry.bytes = bytes;
    block.tensor = "c";
    block.workgroup = 5;
    block.rows = 2;
    block.cols = 3;
  }

  void store(std::int64_t row, std::int64_t col, double value) {
    storeBits(ElementType::bf16, bytes.data(), row * 4 + col,
              encodeNumber(ElementType::bf16, value));
  }

  void storeAll(double value) {
    for (std::int64_t i = 0; i < 6; ++i) {
      store(i / 3, i % 3, value);
    }
  }

  /// Every element is to be `value` within `error`.
  std::vector<Finding> compare(double value, double error) {
    Comparison comparison(entry, "test");
    Expectation expectation;
    expectation.value.assign(6, value);
    expectation.error.assign(6, error);
    comparison.check(block, expectation);
    comparison.checkUntouched();
    maxAbs = comparison.maxAbs();
    maxRel = comparison.maxRel();
    return comparison.findings();
  }

  std::vector<std::uint8_t> bytes;
  TensorContents::Entry entry;
  OutputBlock block;
  double maxAbs = 0, maxRel = 0;
};

TEST_F(ComparisonTest, TheRoundingOfAnythingWithinTheErrorIsRight) {
  // bf16 numbers around 1: 0.99609375, 1, 1.0078125.
  storeAll(1);
  EXPECT_THAT(compare(1.003, 0), IsEmpty());
  EXPECT_THAT(compare(1.004, 0), SizeIs(6)) << "rounds to the next number";
  EXPECT_THAT(compare(1.004, 0.0002), IsEmpty()) << "may have been 1.0038";
  EXPECT_THAT(compare(0.998, 0), SizeIs(6)) << "nearer to 0.99609375";
  EXPECT_DOUBLE_EQ(maxAbs, 1 - 0.998);
  EXPECT_DOUBLE_EQ(maxRel, (1 - 0.998) / 0.998);
}

TEST_F(ComparisonTest, SubnormalResultsAreMeasuredAgainstTheSmallestNormal) {
  const double smallest = 0x1p-133; // of bf16
  storeAll(smallest);
  EXPECT_THAT(compare(1.4 * smallest, 0), IsEmpty());
  EXPECT_DOUBLE_EQ(maxRel, 0.4 * smallest / 0x1p-126);
  EXPECT_LE(maxRel, unitRoundoff(ElementType::bf16));
}

TEST_F(ComparisonTest, OneElementIsEnough) {
  storeAll(1);
  store(1, 2, 1.0078125);
  const std::vector<Finding> findings = compare(1, 0);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].kind, "mismatch");
  EXPECT_EQ(findings[0].workgroup[0], 5U);
  EXPECT_EQ(findings[0].detail, "c[1, 2] is 1.0078125, expected 1 (test)");
}

TEST_F(ComparisonTest, PoisonIsUnwritten) {
  storeAll(1);
  bytes[2] = bytes[3] = HostBuffer::poison;
  const std::vector<Finding> findings = compare(1, 0);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].detail, HasSubstr("c[0, 1] was not written"));
}

TEST_F(ComparisonTest, NanIsNeverRight) {
  storeAll(std::nan(""));
  EXPECT_THAT(compare(1, 1000), SizeIs(6));
  EXPECT_TRUE(std::isinf(maxAbs));
}

TEST_F(ComparisonTest, OverflowIsRightWhereTheResultOverflows) {
  storeAll(std::numeric_limits<double>::infinity());
  EXPECT_THAT(compare(1e39, 0), IsEmpty());
  EXPECT_EQ(maxAbs, 0);
  EXPECT_THAT(compare(1e38, 0), SizeIs(6));
}

TEST_F(ComparisonTest, ThePaddingMustKeepItsPoison) {
  storeAll(1);
  bytes[3 * 2 + 1] = 0;
  const std::vector<Finding> findings = compare(1, 0);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].detail, HasSubstr("byte 7 was written, outside"));
}

TEST_F(ComparisonTest, ReportsTheFirstAndCountsTheRest) {
  entry.tensor.shape = {2, 3};
  storeAll(2);
  Comparison comparison(entry, "test");
  Expectation expectation;
  expectation.value.assign(6, 1);
  comparison.check(block, expectation);
  comparison.check(block, expectation);
  const std::vector<Finding> findings = comparison.findings();
  EXPECT_THAT(findings, SizeIs(8));
  EXPECT_THAT(findings.back().detail, HasSubstr("; and 4 more"));
  EXPECT_EQ(comparison.checked(), 12);
}

} // namespace
} // namespace kw
