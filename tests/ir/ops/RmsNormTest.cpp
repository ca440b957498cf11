// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Problem.h"

#include <gmock/gmock.h>

namespace kw {
namespace {

using testing::HasSubstr;

std::vector<std::string> tensorNames(std::string_view text) {
  std::vector<std::string> names;
  for (const Tensor &tensor : tensors(*parseProblem(text))) {
    names.push_back(tensor.name);
  }
  return names;
}

TEST(RmsNormProblem, PrintsCanonically) {
  EXPECT_EQ(print(*parseProblem("rmsnorm cols=8 rows=2")), "rmsnorm rows=2 cols=8 dtype=bf16");
  const std::string full = "rmsnorm rows=2 cols=8 dtype=f16 out=f32 weight=0 residual=1 eps=1e-05";
  EXPECT_EQ(print(*parseProblem(full)), full);
  EXPECT_EQ(print(*parseProblem("rmsnorm rows=2 cols=8 quant=fp8 out=fp8 eps=1e-6")),
            "rmsnorm rows=2 cols=8 dtype=bf16 quant=fp8");
  EXPECT_EQ(printCompiledPart(*parseProblem(full)),
            "rmsnorm cols=8 dtype=f16 out=f32 weight=0 residual=1 eps=1e-05");
}

TEST(RmsNormProblem, RefusesByName) {
  const auto complaint = [](std::string_view text) { return parseProblem(text).error().message; };
  EXPECT_THAT(complaint("rmsnorm rows=2"), HasSubstr("key \"cols\" is missing"));
  EXPECT_THAT(complaint("rmsnorm rows=2 cols=0"), HasSubstr("\"cols\""));
  EXPECT_THAT(complaint("rmsnorm rows=2 cols=4 dtype=i8"), HasSubstr("accepted: f32 f16 bf16"));
  EXPECT_THAT(complaint("rmsnorm rows=2 cols=4 eps=-1"), HasSubstr("\"eps\""));
  EXPECT_THAT(complaint("rmsnorm rows=2 cols=4 weight=2"), HasSubstr("\"weight\""));
  EXPECT_THAT(complaint("rmsnorm rows=2 cols=4 quant=fp8 out=bf16"), HasSubstr("quant"));
  EXPECT_THAT(complaint("rmsnorm rows=2 cols=4 out=fp8"), HasSubstr("quant"));
  EXPECT_THAT(complaint("rmsnorm rows=2 cols=4 k=4"), HasSubstr("unknown key \"k\""));
}

TEST(RmsNormProblem, Tensors) {
  EXPECT_EQ(tensorNames("rmsnorm rows=2 cols=8"), (std::vector<std::string>{"x", "weight", "y"}));
  EXPECT_EQ(tensorNames("rmsnorm rows=2 cols=8 residual=1 weight=0"),
            (std::vector<std::string>{"x", "residual", "y", "sum"}));
}

TEST(RmsNormProblem, CountsWorkAndBytes) {
  const auto plain = parseProblem("rmsnorm rows=2 cols=8 out=f32");
  EXPECT_DOUBLE_EQ(compulsoryBytes(*plain), 2 * 8 * 2 + 8 * 2 + 2 * 8 * 4);
  EXPECT_DOUBLE_EQ(flops(*plain), 4 * 2 * 8);
  const auto quantised = parseProblem("rmsnorm rows=2 cols=8 quant=fp8 weight=0");
  EXPECT_DOUBLE_EQ(compulsoryBytes(*quantised), 2 * 8 * 2 + 2 * 8 * 1 + 2 * 4);
}

} // namespace
} // namespace kw
