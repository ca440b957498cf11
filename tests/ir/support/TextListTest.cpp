// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/support/TextList.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace kw {
namespace {

using Views = std::vector<std::string_view>;

TEST(TextList, SplitsAndJoins) {
  EXPECT_EQ(split("a,,b", ','), (Views{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (Views{""}));
  EXPECT_EQ(split(",", ','), (Views{"", ""}));
  EXPECT_EQ(words("  a\tb \n c"), (Views{"a", "b", "c"}));
  EXPECT_EQ(words(" \r\n"), Views());
  EXPECT_EQ(joined(Views{"a", "b"}, ", "), "a, b");
  EXPECT_EQ(joined(Views(), ", "), "");
}

TEST(TextList, QuotesForeignText) {
  EXPECT_EQ(quoted("plain"), "\"plain\"");
  EXPECT_EQ(quoted("a\"b\\c\n\xff"), "\"a\\\"b\\\\c\\x0a\\xff\"");
  EXPECT_EQ(kw::quoted(std::string(1000, 'a')).size(), 48u + 5);
}

TEST(TextList, ParsesWholeNumbersOnly) {
  EXPECT_EQ(parseInteger("-12"), -12);
  EXPECT_EQ(parseInteger("9223372036854775807"), 9223372036854775807);
  for (const char *bad : {"", "9223372036854775808", "1x", " 1", "+1", "0x1", "1.0"}) {
    EXPECT_EQ(parseInteger(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(parseReal("1e-3"), 0.001);
  for (const char *bad : {"", "inf", "nan", "1e999", "1,5", "1 "}) {
    EXPECT_EQ(parseReal(bad), std::nullopt) << bad;
  }
}

TEST(TextList, RealsParseBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const double value = std::ldexp(double(random()), int(random() % 200) - 150);
    EXPECT_EQ(parseReal(formatReal(value)), value);
  }
  EXPECT_EQ(formatReal(1e-6), "1e-06");
  EXPECT_EQ(formatReal(0.5), "0.5");
}

} // namespace
} // namespace kw
