// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/foreign/ForeignModel.h"
#include "costmodel/foreign/TileChoices.h"

#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <numeric>

namespace kw {
namespace {

MeasuredRow gemmRow(const std::string &generator, const std::string &name, std::int64_t m) {
  MeasuredRow row;
  row.number = 1;
  row.op = "gemm";
  row.gfx = "gfx950";
  row.cus = 256;
  row.typeA = row.typeB = row.typeOut = "bf16";
  row.gemm = {m, 4096, 4096};
  row.kernels.push_back({generator, name});
  return row;
}

MeasuredRow moeRow(int stage, std::int64_t tokens) {
  MeasuredRow row;
  row.number = 1;
  row.kind = RowKind::moe;
  row.gfx = "gfx950";
  row.typeA = row.typeB = "fp8";
  row.typeOut = "bf16";
  row.scale = "per_Token";
  row.moe = {tokens, 4096, 1024, 64, 4, "Silu", true, 32, false, stage};
  row.kernels.push_back({"ck", "moe_ck2stages_gemm1_256x32x64x256_1x4_TypeCast_v1_F8_F8_B16"});
  if (stage == 0) {
    row.kernels.push_back({"ck", "moe_ck2stages_gemm2_256x32x128x256_1x4_TypeCast_v1_F8_F8_B16"});
  }
  return row;
}

TEST(ForeignModel, TermsAddUpAndFeaturesHaveNames) {
  ForeignModel model;
  for (const MeasuredRow &row : {gemmRow("asm_bf16", "_ZN5aiter24bf16gemm_bf16_tn_256x256E", 4096),
                                 gemmRow("torch_native", "native", 16), moeRow(0, 128)}) {
    const auto result = model.estimate(row);
    ASSERT_TRUE(result) << result.error().message;
    const auto &terms = result->analytic.termsUs;
    EXPECT_NEAR(std::accumulate(terms.begin(), terms.end(), 0.0), result->analytic.timeUs,
                1e-9 * result->analytic.timeUs);
    EXPECT_EQ(result->features.size(), featureNames().size());
    EXPECT_FALSE(result->group.empty());
    EXPECT_FALSE(result->kernel.empty());
  }
}

TEST(ForeignModel, NeverBeatsTheRoofline) {
  ForeignModel model;
  for (const std::int64_t m : {1, 16, 100, 512, 5000, 40000}) {
    for (const char *name : {"_ZN5aiter24bf16gemm_bf16_tn_256x256E", "_ZN5aiter9x_tn_32x64E"}) {
      const auto result = model.estimate(gemmRow("asm_bf16", name, m));
      ASSERT_TRUE(result);
      const double flops = 2.0 * double(m) * 4096 * 4096,
                   bytes = 2.0 * 4096 * (2.0 * double(m) + 4096);
      EXPECT_GT(result->analytic.timeUs, 1e6 * std::max(flops / 2.5166e15, bytes / 8e12)) << m;
    }
  }
}

TEST(ForeignModel, ALibrarysPickIsNoSlowerThanOneOfItsTiles) {
  ForeignModel model;
  const auto picked = model.estimate(gemmRow("torch_native", "native", 512));
  MeasuredRow told = gemmRow("torch_native", "native", 512);
  told.kernels.front().tileM = told.kernels.front().tileN = 128;
  told.kernels.front().splitK = 1;
  const auto fixed = model.estimate(told);
  ASSERT_TRUE(picked && fixed);
  EXPECT_LE(picked->analytic.timeUs, fixed->analytic.timeUs * (1 + 1e-12));
}

TEST(ForeignModel, BothStagesTakeAsLongAsEachAlone) {
  ForeignModel model;
  MeasuredRow second = moeRow(2, 64);
  second.kernels.front().name = "moe_ck2stages_gemm2_256x32x128x256_1x4_TypeCast_v1_F8_F8_B16";
  const auto both = model.estimate(moeRow(0, 64)), one = model.estimate(moeRow(1, 64)),
             two = model.estimate(second);
  ASSERT_TRUE(both && one && two);
  EXPECT_NEAR(both->analytic.timeUs, one->analytic.timeUs + two->analytic.timeUs,
              1e-9 * both->analytic.timeUs);
}

/// Everything that a correction looks at.
void expectSameCase(const ModelCase &a, const ModelCase &b) {
  EXPECT_EQ(a.analytic.timeUs, b.analytic.timeUs);
  EXPECT_EQ(a.analytic.termsUs, b.analytic.termsUs);
  ASSERT_EQ(a.features.size(), b.features.size());
  for (std::size_t i = 0; i < a.features.size(); ++i) {
    EXPECT_TRUE(a.features[i] == b.features[i] ||
                (std::isnan(a.features[i]) && std::isnan(b.features[i])))
        << featureNames()[i];
  }
  for (const auto category : {&ModelCase::family, &ModelCase::dtype, &ModelCase::generator,
                              &ModelCase::variant, &ModelCase::kernel, &ModelCase::group}) {
    EXPECT_EQ(a.*category, b.*category);
  }
}

TEST(ForeignModel, PartsAreTheKernelsAsIfAlone) {
  ForeignModel model;
  MeasuredRow second = moeRow(2, 64);
  second.kernels.front().name = "moe_ck2stages_gemm2_256x32x128x256_1x4_TypeCast_v1_F8_F8_B16";
  const auto both = model.estimate(moeRow(0, 64));
  ASSERT_TRUE(both);
  ASSERT_EQ(both->parts.size(), 2U);
  expectSameCase(both->parts[0], *model.estimate(moeRow(1, 64)));
  expectSameCase(both->parts[1], *model.estimate(second));
}

TEST(ForeignModel, OneKernelHasNoParts) {
  ForeignModel model;
  MeasuredRow oneStage = moeRow(0, 64);
  oneStage.moe.oneStage = true;
  oneStage.kernels.pop_back();
  for (const MeasuredRow &row : {oneStage, moeRow(1, 64)}) {
    const auto result = model.estimate(row);
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->parts.empty());
  }
}

TEST(ForeignModel, HalfTheCusAreNoFaster) {
  ForeignModel model;
  MeasuredRow row = gemmRow("asm_bf16", "_ZN5aiter24bf16gemm_bf16_tn_256x256E", 8192);
  const double whole = model.estimate(row)->analytic.timeUs;
  row.cus = 128;
  EXPECT_GT(model.estimate(row)->analytic.timeUs, 1.5 * whole);
}

TEST(ForeignModel, RefusesByName) {
  ForeignModel model;
  MeasuredRow row = gemmRow("ck", "x", 16);
  row.typeA = "q3";
  EXPECT_EQ(model.estimate(row).error().message, "dtype_a=q3: no such type");
  row = gemmRow("ck", "x", 16);
  row.scale = "odd";
  EXPECT_EQ(model.estimate(row).error().message, "scale=odd: no such scale");
  row = gemmRow("ck", "x", 16);
  row.gfx = "gfx1";
  EXPECT_FALSE(model.estimate(row));
  row = gemmRow("ck", "x", 16);
  row.op = "gemm_fwd_with_quant";
  EXPECT_EQ(model.estimate(row).error().message,
            "op=gemm_fwd_with_quant: not modelled; gemm and bgemm are");
  row = gemmRow("ck", "x", 16);
  row.damage = "broken";
  EXPECT_EQ(model.estimate(row).error().message, "broken");
}

/// What a number of workgroups a CU leaves no registers for is spilled; more than fit into LDS are
/// asked in vain.
TEST(ForeignModel, ForcedResidentsSpillRegisters) {
  ForeignModel model;
  const auto us = [&](int tileM, int perCu) {
    MeasuredRow row = moeRow(1, 1);
    row.typeA = "bf16";
    row.typeB = "fp4";
    row.scale = "per_1x32";
    row.kernels = {{"cktile", fmt::format("moe_cktile2stages_gemm1_256x{}x256x256_1x4_16x16x32_"
                                          "{}perCU_1x32_HasBias_swiglu",
                                          tileM, perCu)}};
    const auto result = model.estimate(row);
    EXPECT_TRUE(result);
    return result->analytic.timeUs;
  };
  EXPECT_LT(us(32, 2), 1.1 * us(32, 1));
  EXPECT_GT(us(32, 3), 1.5 * us(32, 1));
  EXPECT_GT(us(32, 4), 1.5 * us(32, 3));
  EXPECT_GT(us(64, 2), 1.05 * us(64, 1));
  EXPECT_LT(us(64, 4), 1.05 * us(64, 1)); // 256 KiB of LDS
}

/// A product that needs any part of a second tile of rows reads its weights once.
TEST(ForeignModel, TilesOfAnExpertShareItsWeights) {
  ForeignModel model;
  const auto readBytes = [&](std::int64_t tokens) {
    const auto result = model.estimate(moeRow(1, tokens));
    EXPECT_TRUE(result);
    return result->readBytes;
  };
  const double weights = 64.0 * 4096 * 2 * 1024; // all experts are in use from 256 tokens on
  EXPECT_NEAR(readBytes(256), weights + 256 * 4096, 0.02 * weights);
  EXPECT_LT(readBytes(512), 1.15 * (weights + 512 * 4096));
}

TEST(RowTiles, OfBinomialRows) {
  TileProblem problem;
  problem.grouped = true;
  problem.experts = 4;
  problem.routed = 8; // mean 2 rows an expert: tiles of 32 rows = experts that have any
  const double some = 4 * (1 - std::pow(0.75, 8));
  EXPECT_NEAR(rowTiles(problem, 32).tiles, some, 1e-6);
  problem.routed = 1e6; // far more rows than fit: half a tile an expert is padding
  EXPECT_NEAR(rowTiles(problem, 32).tiles, 1e6 / 32 + 2, 1);
  problem.experts = 1;
  problem.routed = 33;
  EXPECT_EQ(rowTiles(problem, 32).tiles, 2);
}

TEST(RowTiles, OfDenseRows) {
  TileProblem problem;
  problem.rows = 33;
  problem.products = 3;
  EXPECT_EQ(rowTiles(problem, 32).tiles, 6);
  EXPECT_NEAR(rowTiles(problem, 32).useful, 16.5, 1e-12);
}

TEST(TileChoices, WhatIsToldIsNotVaried) {
  TileKernel kernel;
  kernel.tileM = 128;
  kernel.tileN = 64;
  kernel.tileK = 64;
  kernel.waves = 4;
  kernel.mfmaM = 32;
  kernel.prefetch = 3;
  kernel.splitK = 2;
  TileProblem problem;
  problem.n = problem.k = 4096;
  problem.rows = 512;
  const TileChoices choices = tileChoices(kernel, problem, **findTarget("gfx950"));
  ASSERT_EQ(choices.alternatives.size(), 1u);
  ASSERT_EQ(choices.alternatives[0].size(), 1u);
  const SetTileKernel &set = choices.alternatives[0][0];
  EXPECT_EQ(set.waves(), 4);
  EXPECT_EQ(set.wavesM, 2); // reads least from LDS
  EXPECT_EQ(set.mfmaM, 32);
  EXPECT_EQ(set.splitK, 2);
  EXPECT_EQ(set.prefetch, 3);
}

TEST(TileChoices, UnknownStepsAreAveragedAndStreamKTakesTheBest) {
  TileKernel kernel;
  kernel.tileM = kernel.tileN = 64;
  kernel.streamK = true;
  TileProblem problem;
  problem.n = 1024;
  problem.k = 8192;
  problem.rows = 64;
  const TileChoices choices = tileChoices(kernel, problem, **findTarget("gfx950"));
  EXPECT_GT(choices.alternatives.size(), 3u);
  for (const auto &members : choices.alternatives) {
    EXPECT_EQ(members.size(), 4u); // two K steps, two prefetch distances
  }
}

TEST(MatrixRate, OfTheInstructionThatALaneCanFeed) {
  TileProblem problem;
  problem.a = problem.b = ElementType::fp8;
  SetTileKernel kernel;
  const Target &target = **findTarget("gfx950");
  EXPECT_EQ(matrixRate(problem, kernel, target), 1024);
  kernel.operandBytes = 16; // the older instruction, half the rate
  EXPECT_EQ(matrixRate(problem, kernel, target), 512);
  EXPECT_EQ(matrixRate(problem, kernel, **findTarget("gfx942")), 512); // by the rate of i8
}

} // namespace
} // namespace kw
