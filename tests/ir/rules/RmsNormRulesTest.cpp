// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/ir/rules/RuleMessage.h"

#include <gmock/gmock.h>

namespace kw {
namespace {

using testing::HasSubstr;

TEST(RmsNormRules, DefaultIsLegalOnACommonShape) {
  EXPECT_TRUE(checkLegal(*parseProblem("rmsnorm rows=4096 cols=4096"), RmsNormSchedule(), gfx950())
                  .empty());
}

TEST(RmsNormRules, FactsCarryTheNumbers) {
  EXPECT_THAT(message("rmsnorm rows=3 cols=64", "rmsnorm.1:rows=8", "usefulRows"),
              HasSubstr("8 rows a workgroup, but rows=3"));
  EXPECT_THAT(message("rmsnorm rows=99 cols=8192", "rmsnorm.1:waves=8,rows=4", "waves"),
              HasSubstr("8 waves a row x 4 rows: a power of two a row, at most 16 in total"));
  EXPECT_THAT(message("rmsnorm rows=99 cols=8192", "rmsnorm.1:waves=3", "waves"),
              HasSubstr("3 waves a row"));
  EXPECT_THAT(message("rmsnorm rows=99 cols=8192 dtype=f32", "rmsnorm.1:vec=2", "width"),
              HasSubstr("an element has 4"));
  EXPECT_EQ(message("rmsnorm rows=99 cols=8191 dtype=bf16", "rmsnorm.1:vec=2", "width"), "");
  EXPECT_THAT(message("rmsnorm rows=99 cols=8190", "rmsnorm.1:", "alignment"),
              HasSubstr("cols=8190 aligns rows to 4 bytes"));
  // Four waves of 64 lanes x 8 elements: the last begins at column 1536.
  EXPECT_THAT(message("rmsnorm rows=99 cols=1536", "rmsnorm.1:waves=4", "usefulWaves"),
              HasSubstr("the last of 4 waves a row gets none of 1536 columns"));
  EXPECT_EQ(message("rmsnorm rows=99 cols=1544", "rmsnorm.1:waves=4", "usefulWaves"), "");
  EXPECT_THAT(message("rmsnorm rows=99 cols=131072", "rmsnorm.1:", "registers"),
              HasSubstr("legal with passes=2"));
  EXPECT_THAT(message("rmsnorm rows=99 cols=16384", "rmsnorm.1:waves=1,occupancy=8", "occupancy"),
              HasSubstr("8 waves per SIMD asked for"));
  EXPECT_THAT(message("rmsnorm rows=2147483647 cols=8", "rmsnorm.1:rows=1", "gridSize"),
              HasSubstr("137438953408 work-items"));
}

} // namespace
} // namespace kw
