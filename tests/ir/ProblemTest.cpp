// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Problem.h"

#include <gmock/gmock.h>
#include <random>

namespace kw {
namespace {

using testing::HasSubstr;

TEST(Problem, NamesFamilies) {
  EXPECT_EQ(name(Family::gemm), "gemm");
  EXPECT_EQ(name(Family::rmsnorm), "rmsnorm");
  EXPECT_EQ(name(Family::attention), "attention");
  const auto complaint = [](std::string_view text) { return parseProblem(text).error().message; };
  EXPECT_THAT(complaint(""), HasSubstr("empty problem"));
  EXPECT_THAT(complaint(" \n "), HasSubstr("empty problem"));
  EXPECT_THAT(complaint("conv m=1"), HasSubstr("unknown family \"conv\"; accepted: gemm rmsnorm"));
  EXPECT_EQ(name(Family::groupedGemm), "grouped_gemm");
  EXPECT_EQ(name(Family::topk), "topk");
}

/// Whatever the bytes, an answer; and what is accepted prints to something that parses back.
TEST(Problem, SurvivesAnyBytes) {
  const std::vector<std::string> seeds{
      "gemm m=4096 n=4096 k=4096 dtype=bf16 b=nk epilogue=bias,quant:fp8 lda=5000 alpha=1e-3",
      "gemm m=1 n=2 k=3 batch=7 sa=0 sb=1 adtype=fp8 bdtype=mxfp4 scale=mx",
      "rmsnorm rows=3 cols=5 eps=1e-6 residual=1",
      "grouped_gemm groups=8 tokens=16 topk=2 n=64 k=32 dtype=fp8 routing=zipf:1.2 "
      "epilogue=swiglu,weight b=nk",
      "topk rows=7 cols=100 k=9 largest=0 index=i32"};
  std::mt19937_64 random(7);
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = seeds[random() % seeds.size()];
    for (std::uint64_t edit = 0, edits = random() % 4; edit < edits; ++edit) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + random() % 5);
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 8));
      }
      if (text.empty()) {
        break;
      }
    }
    const auto problem = parseProblem(text);
    if (!problem) {
      EXPECT_EQ(problem.error().message.find('\n'), std::string::npos);
      continue;
    }
    ++accepted;
    const auto again = parseProblem(print(*problem));
    ASSERT_TRUE(again) << text << " -> " << print(*problem) << ": " << again.error().message;
    EXPECT_EQ(*again, *problem) << text;
    for (const Tensor &tensor : tensors(*problem)) {
      EXPECT_GT(spanBytes(tensor), 0);
    }
  }
  EXPECT_GT(accepted, 2000);
}

} // namespace
} // namespace kw
