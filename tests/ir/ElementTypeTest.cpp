// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/ElementType.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(ElementType, NamesParseBack) {
  for (int i = 0; i <= static_cast<int>(ElementType::u8); ++i) {
    auto type = static_cast<ElementType>(i);
    EXPECT_EQ(parseElementType(name(type)), type) << name(type);
  }
}

TEST(ElementType, UnknownNamesAreRefused) {
  for (const char *text : {"", "f", "F32", "f32 ", "fp32", "mxfp8", "bf166"}) {
    EXPECT_FALSE(parseElementType(text)) << text;
  }
}

TEST(ElementType, WidthsOfSmallTypes) {
  EXPECT_EQ(bitWidth(ElementType::fp6), 6);
  EXPECT_EQ(bitWidth(ElementType::bf6), 6);
  EXPECT_EQ(bitWidth(ElementType::fp4), 4);
  EXPECT_EQ(bitWidth(ElementType::e8m0), 8);
  EXPECT_EQ(bitWidth(ElementType::bf16), 16);
  EXPECT_EQ(bitWidth(ElementType::i64), 64);
}

TEST(ElementType, BytesRoundUp) {
  EXPECT_EQ(bytesOf(ElementType::fp4, 3), 2);
  EXPECT_EQ(bytesOf(ElementType::fp6, 32), 24);
  EXPECT_EQ(bytesOf(ElementType::fp6, 1), 1);
  EXPECT_EQ(bytesOf(ElementType::f32, 7), 28);
  EXPECT_EQ(bytesOf(ElementType::bf16, 0), 0);
}

TEST(ElementType, Floats) {
  EXPECT_TRUE(isFloat(ElementType::e8m0));
  EXPECT_TRUE(isFloat(ElementType::fp4));
  EXPECT_FALSE(isFloat(ElementType::i8));
  EXPECT_FALSE(isFloat(ElementType::u64));
}

} // namespace
} // namespace kw
