// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/ir/rules/RuleMessage.h"

#include <gmock/gmock.h>

namespace kw {
namespace {

using testing::HasSubstr;

TEST(TopKRules, FactsCarryTheNumbers) {
  EXPECT_THAT(message("topk rows=4 cols=8192 k=4097", "topk.1:", "listInRegisters"),
              HasSubstr("k=4097; the best stay in registers up to k=4096"));
  EXPECT_THAT(message("topk rows=3 cols=4096 k=8", "topk.1:rows=8", "usefulRows"),
              HasSubstr("8 rows a workgroup, but rows=3"));
  EXPECT_THAT(message("topk rows=99 cols=8192 k=8", "topk.1:waves=3", "waves"),
              HasSubstr("3 waves a row"));
  EXPECT_THAT(message("topk rows=99 cols=8192 k=8", "topk.1:vec=2", "width"),
              HasSubstr("an element has 4"));
  EXPECT_THAT(message("topk rows=99 cols=1001 k=8", "topk.1:", "alignment"),
              HasSubstr("cols=1001 makes rows of 4004 bytes"));
  // Four waves of 64 lanes x 4 elements: the last begins at column 768.
  EXPECT_THAT(message("topk rows=99 cols=768 k=8", "topk.1:waves=4", "usefulWaves"),
              HasSubstr("the last of 4 waves a row gets none of 768 columns"));
  EXPECT_THAT(message("topk rows=2147483647 cols=64 k=8", "topk.1:rows=1", "gridSize"),
              HasSubstr("137438953408 work-items"));
}

TEST(TopKRules, WhatJustFitsIsLegal) {
  EXPECT_EQ(message("topk rows=4 cols=8192 k=4096", "topk.1:", "listInRegisters"), "");
  EXPECT_EQ(message("topk rows=99 cols=1001 k=8", "topk.1:vec=4", "width"), "");
  EXPECT_EQ(message("topk rows=99 cols=1001 k=8", "topk.1:vec=4", "alignment"), "");
  EXPECT_EQ(message("topk rows=99 cols=772 k=8", "topk.1:waves=4", "usefulWaves"), "");
}

} // namespace
} // namespace kw
