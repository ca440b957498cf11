// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Problem.h"

#include <gmock/gmock.h>

namespace kw {
namespace {

using testing::HasSubstr;

TEST(TopKProblem, CanonicalText) {
  EXPECT_EQ(print(*parseProblem("topk k=3 cols=9 rows=2")), "topk rows=2 cols=9 k=3 dtype=f32");
  const std::string full = "topk rows=2 cols=9 k=3 dtype=bf16 largest=0 sorted=0 index=i32";
  EXPECT_EQ(print(*parseProblem(full)), full);
  EXPECT_EQ(printCompiledPart(*parseProblem(full)),
            "topk cols=9 k=3 dtype=bf16 largest=0 sorted=0 index=i32");
}

TEST(TopKProblem, RefusesByName) {
  const auto complaint = [](std::string_view text) { return parseProblem(text).error().message; };
  EXPECT_THAT(complaint("topk rows=2 cols=9 k=10"), HasSubstr("k=10 is above cols=9"));
  EXPECT_THAT(complaint("topk rows=2 cols=9"), HasSubstr("\"k\""));
  EXPECT_THAT(complaint("topk rows=2 cols=9 k=1 index=u8"), HasSubstr("i64 i32"));
  EXPECT_THAT(complaint("topk rows=2 cols=9 k=1 dtype=i8"), HasSubstr("f32 f16 bf16"));
}

TEST(TopKProblem, CountsEachElementOnce) {
  const Problem problem = *parseProblem("topk rows=2 cols=9 k=3 dtype=bf16");
  EXPECT_EQ(flops(problem), 18);
  EXPECT_EQ(compulsoryBytes(problem), 2 * 9 * 2 + 2 * 3 * (2 + 8));
}

} // namespace
} // namespace kw
