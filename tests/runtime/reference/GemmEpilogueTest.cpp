// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/reference/GemmEpilogue.h"

#include "ir/Problem.h"
#include "ir/ops/Activation.h"

#include <cmath>
#include <gtest/gtest.h>

namespace kw {
namespace {

Gemm parse(const std::string &text) { return parseProblem("gemm m=1 n=2 k=4 " + text)->gemm(); }

struct Applied {
  std::vector<double> value, error;
};
Applied apply(const std::string &text, std::vector<double> value, EpilogueInputs inputs,
              bool exact) {
  const Gemm gemm = parse(text);
  inputs.aux.resize(gemm.epilogue.size());
  Applied result{value, std::vector<double>(value.size(), exact ? 0 : 1e-6)};
  applyEpilogue(gemm, inputs, 2, exact, result.value, result.error);
  return result;
}

TEST(GemmEpilogue, StepsActInTheirOrder) {
  EpilogueInputs inputs{{}, {{1, 2}, {}, {3, 4}}};
  EXPECT_EQ(apply("dtype=bf16 epilogue=bias,relu,mul", {-5, 5}, inputs, true).value,
            (std::vector<double>{0, 28}));
  inputs = {{}, {{}, {3, 4}, {1, 2}}};
  EXPECT_EQ(apply("dtype=bf16 epilogue=relu,mul,bias", {-5, 5}, inputs, true).value,
            (std::vector<double>{1, 22}));
}

TEST(GemmEpilogue, IntegersStayExactUntilAnActivation) {
  EpilogueInputs inputs{{7, 8}, {{1, 2}, {3, 4}}};
  const Applied sums = apply("dtype=bf16 beta=-2 epilogue=add,mul", {10, 20}, inputs, true);
  EXPECT_EQ(sums.value, (std::vector<double>{-9, 24}));
  EXPECT_EQ(sums.error, (std::vector<double>{0, 0}));
  const Applied smooth = apply("dtype=bf16 epilogue=silu", {10, -20}, {}, true);
  EXPECT_DOUBLE_EQ(smooth.value[1], -20 / (1 + std::exp(20.0)));
  EXPECT_GE(smooth.error[0], siluError * 10);
  EXPECT_LE(smooth.error[0], siluError * 10.1);
  // A sum beyond the exact integers is rounded.
  EXPECT_GT(apply("dtype=bf16 epilogue=bias", {0x1p24, 1}, {{}, {{1, 1}}}, true).error[0], 0);
}

TEST(GemmEpilogue, ErrorsGrowAsTheFunctionsDo) {
  const Applied product = apply("dtype=bf16 epilogue=mul", {1, 1}, {{}, {{100, -1}}}, false);
  EXPECT_NEAR(product.error[0], 100e-6 + 100 * 0x1p-24, 1e-9);
  EXPECT_NEAR(product.error[1], 1e-6 + 0x1p-24, 1e-12);
  const Applied smooth = apply("dtype=bf16 epilogue=gelu", {2, 0}, {}, false);
  EXPECT_NEAR(smooth.error[0], geluSlope * 1e-6 + 2 * geluError, 1e-10);
}

TEST(Activation, SlopesAndValues) {
  double steepestSilu = 0, steepestGelu = 0;
  for (double x = -10; x < 10; x += 1e-3) {
    steepestSilu = std::max(steepestSilu, std::fabs(silu(x + 1e-3) - silu(x)) / 1e-3);
    steepestGelu = std::max(steepestGelu, std::fabs(gelu(x + 1e-3) - gelu(x)) / 1e-3);
  }
  EXPECT_NEAR(steepestSilu, siluSlope, 2e-4);
  EXPECT_NEAR(steepestGelu, geluSlope, 2e-4);
  EXPECT_LE(steepestSilu, siluSlope);
  EXPECT_LE(steepestGelu, geluSlope);
  EXPECT_NEAR(gelu(1), 0.8413447460685429, 1e-15);
}

/// The formula of the kernels, in f32 with correctly rounded reciprocal and power.
TEST(Activation, KernelFormulaOfGeluKeepsItsBound) {
  for (float x = -14; x < 14; x += 1.0f / 512) {
    const float t = 1 / std::fma(std::fabs(x), float(geluShift), 1.0f);
    auto sum = float(geluPolynomial.back());
    for (std::size_t i = geluPolynomial.size() - 1; i-- > 0;) {
      sum = std::fma(sum, t, float(geluPolynomial[i]));
    }
    const float tail = sum * t * std::exp2(x * float(-0.5 * 1.4426950408889634) * x);
    const float result = x * (x < 0 ? tail : 1 - tail);
    EXPECT_LE(std::fabs(double(result) - gelu(x)), geluError * std::fabs(x)) << x;
  }
}

} // namespace
} // namespace kw
