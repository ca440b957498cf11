// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/rules/EmissionLimits.h"

#include <gmock/gmock.h>

namespace kw {
namespace {

using testing::HasSubstr;

const Target &gfx950() { return **findTarget("gfx950"); }

/// "rule: message" of the first limit of the problem; empty: it can be compiled.
std::string limit(std::string_view problem) {
  const auto found = emissionLimit(*parseProblem(problem), gfx950());
  return found ? std::string(found->rule) + ": " + found->message : "";
}

TEST(EmissionLimits, WhatIsCompiledHasNone) {
  for (const char *problem :
       {"gemm m=64 n=64 k=64", "gemm m=64 n=64 k=64 dtype=i8 out=i32",
        "gemm m=64 n=64 k=64 dtype=f16 epilogue=bias,gelu beta=1", "rmsnorm rows=8 cols=64",
        "attention b=1 hq=1 hkv=1 sq=1 skv=64 d=64"}) {
    EXPECT_EQ(limit(problem), "") << problem;
    EXPECT_FALSE(emissionLimit(*parseProblem(problem),
                               defaultSchedule(parseProblem(problem)->family()), gfx950()))
        << problem;
  }
}

TEST(EmissionLimits, WhatIsNotCompiledIsNamed) {
  EXPECT_THAT(limit("gemm m=64 n=64 k=64 dtype=fp8"), HasSubstr("operandTypes: operand types fp8"));
  EXPECT_THAT(limit("gemm m=64 n=64 k=64 dtype=i8 scale=row"), HasSubstr("notSupported.scale"));
  EXPECT_THAT(limit("gemm m=64 n=64 k=64 epilogue=quant:fp8"), HasSubstr("quant:fp8"));
  EXPECT_THAT(limit("gemm m=64 n=64 k=64 out=i8"), HasSubstr("notSupported.outType: out=i8"));
  EXPECT_THAT(limit("gemm m=64 n=64 k=64 dtype=i8 out=i32 alpha=2"), HasSubstr("out=i32"));
  EXPECT_THAT(limit("rmsnorm rows=8 cols=64 quant=fp8"),
              HasSubstr("quant=fp8 is not supported yet"));
  EXPECT_THAT(limit("grouped_gemm groups=8 tokens=4 topk=2 n=64 k=64"),
              HasSubstr("no code is generated for grouped_gemm yet"));
  EXPECT_THAT(limit("topk rows=4 cols=64 k=2"), HasSubstr("no code is generated for topk yet"));
}

} // namespace
} // namespace kw
