// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Expression.h"

#include <gmock/gmock.h>
#include <random>

namespace kw {
namespace {

using testing::HasSubstr;

const SizeValues sizes{{"m", 100}, {"k", 64}, {"lda", 7}, {"zero", 0}};

std::int64_t value(std::string_view text) {
  const auto result = evaluate(text, sizes);
  EXPECT_TRUE(result) << text << ": " << result.error().message;
  return result.value_or(-999999);
}

std::string complaint(std::string_view text) {
  const auto result = evaluate(text, sizes);
  EXPECT_FALSE(result) << text;
  return result ? "" : result.error().message;
}

TEST(Expression, Arithmetic) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1+2)*3"), 9);
  EXPECT_EQ(value("10 - 4 - 3"), 3);
  EXPECT_EQ(value("-7 / 2"), -4);
  EXPECT_EQ(value("-7 % 2"), 1);
  EXPECT_EQ(value("7 % -2"), -1);
  EXPECT_EQ(value("7 / -2"), -4);
  EXPECT_EQ(value("--3"), 3);
  EXPECT_EQ(value("2 - -3"), 5);
  EXPECT_EQ(value("ceildiv(m, 128) * 32"), 32);
  EXPECT_EQ(value("ceildiv(-7, 2)"), -3);
  EXPECT_EQ(value("ceildiv(8, 2)"), 4);
  EXPECT_EQ(value("min(m, max(k, 3))"), 64);
}

TEST(Expression, Comparisons) {
  EXPECT_EQ(value("k % 64 == 0"), 1);
  EXPECT_EQ(value("m >= 1 and m <= 4096"), 1);
  EXPECT_EQ(value("m<1 or lda!=7"), 0);
  EXPECT_EQ(value("not m == 100"), 0);
  EXPECT_EQ(value("not not 5"), 1);
  EXPECT_EQ(value("1 or 0 and 0"), 1);
}

TEST(Expression, ShortCircuit) {
  EXPECT_EQ(value("zero == 0 or m / zero > 1"), 1);
  EXPECT_EQ(value("zero != 0 and m % zero == 0"), 0);
  EXPECT_THAT(complaint("zero == 0 and m / zero > 1"), HasSubstr("division by zero"));
}

TEST(Expression, SaysWhatIsWrong) {
  EXPECT_THAT(complaint("m + q"), HasSubstr("unknown name \"q\"; accepted: m k lda zero"));
  EXPECT_THAT(complaint("m +"), HasSubstr("missing"));
  EXPECT_THAT(complaint(""), HasSubstr("missing"));
  EXPECT_THAT(complaint("(m"), HasSubstr("')' is missing"));
  EXPECT_THAT(complaint("m m"), HasSubstr("unexpected"));
  EXPECT_THAT(complaint("abs(m)"), HasSubstr("unknown function"));
  EXPECT_THAT(complaint("1 < m < 3"), HasSubstr("do not chain"));
  EXPECT_THAT(complaint("ceildiv(m)"), HasSubstr("','"));
  EXPECT_THAT(complaint("m / 0"), HasSubstr("division by zero"));
  EXPECT_THAT(complaint("9223372036854775807 + 1"), HasSubstr("overflow"));
  EXPECT_THAT(complaint("99999999999999999999"), HasSubstr("overflow"));
  EXPECT_THAT(complaint("(0 - 9223372036854775807 - 1) / -1"), HasSubstr("overflow"));
  EXPECT_THAT(complaint(std::string(100000, '(')), HasSubstr("nested too deeply"));
  EXPECT_THAT(complaint(std::string(100000, '-')), HasSubstr("nested too deeply"));
}

TEST(Expression, SurvivesAnyBytes) {
  const std::string letters = "mk01 ()+-*/%<>=!,andornotmincel\xff";
  std::mt19937_64 random(11);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::uint64_t i = 0, length = random() % 24; i < length; ++i) {
      text += letters[random() % letters.size()];
    }
    evaluate(text, sizes);
  }
}

} // namespace
} // namespace kw
