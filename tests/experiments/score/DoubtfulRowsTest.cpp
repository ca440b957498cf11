// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/DoubtfulRows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

struct FusedRow {
  int tokens;
  std::string us, us1, us2;
};

/// Which of the rows, all of one layer, are doubtful.
std::vector<bool> doubtful(const std::vector<FusedRow> &fused) {
  std::string text = "gfx,token,model_dim,inter_dim,expert,topk,act,dtype_a,dtype_w,q_type,g1u1,"
                     "block_m,kernel1,fam1,kernel2,fam2,us,us1,us2\n";
  for (const FusedRow &row : fused) {
    text += fmt::format("gfx950,{},4096,256,128,8,Silu,fp8,fp8,per_Token,1,32,"
                        "flydsl_moe1_afp8_wfp8_bf16_t32x128x256,flydsl,"
                        "flydsl_moe2_afp8_wfp8_bf16_t32x128x256,flydsl,{},{},{}\n",
                        row.tokens, row.us, row.us1, row.us2);
  }
  const auto table = TextTable::parse(text, "moe.csv");
  EXPECT_TRUE(table);
  auto rows = scoreRows({*table}, uncalibrated());
  EXPECT_TRUE(rows);
  markDoubtful(*rows, {*table});
  std::vector<bool> marks;
  for (const ScoredRow &row : *rows) {
    marks.push_back(row.doubtful);
  }
  return marks;
}

TEST(DoubtfulRows, OneTimeOfSeveralTokenCounts) {
  EXPECT_EQ(
      doubtful({{64, "359.4797", "", ""}, {128, "359.4797", "", ""}, {128, "359.48", "", ""}}),
      (std::vector{true, true, false}));
}

TEST(DoubtfulRows, OneTokenCountMayRepeatATime) {
  EXPECT_EQ(doubtful({{64, "359.4797", "", ""}, {64, "359.4797", "", ""}}),
            (std::vector{false, false}));
}

TEST(DoubtfulRows, RoundTimesMayBeEqual) {
  EXPECT_EQ(doubtful({{64, "6.5000", "", ""}, {128, "6.5000", "", ""}, {256, "0.0065", "", ""}}),
            (std::vector{false, false, false}));
}

TEST(DoubtfulRows, TheSumOfTheKernels) {
  EXPECT_EQ(doubtful({{64, "100.5", "60", "40"},
                      {128, "1492.25", "242", "132"},
                      {256, "80.25", "60", "40"},
                      {512, "100.75", "60", ""}}),
            (std::vector{false, true, true, false}));
}

TEST(DoubtfulRows, NothingIsLeftForTheSecondKernel) {
  EXPECT_EQ(
      doubtful({{64, "100.5", "100.5", ""}, {128, "90.5", "90.5", "0"}, {256, "80.5", "", ""}}),
      (std::vector{true, true, false}));
}

ScoredRow rowOf(std::int64_t interDim, double estimate, double predicted, double us) {
  ScoredRow row;
  row.row.moe.interDim = interDim;
  row.modelCase.emplace().analytic.timeUs = estimate;
  row.predictedUs = predicted;
  row.time.us = us;
  row.doubtful = true;
  return row;
}

TEST(DoubtfulRows, WhatTheBestFactorOfEachTimeLeaves) {
  // One time of three sizes: a factor of 4 is right for two of them, the third is then 2 x too
  // slow.
  std::vector<ScoredRow> rows{rowOf(1, 10, 20, 40), rowOf(1, 10, 40, 40), rowOf(1, 20, 40, 40),
                              rowOf(2, 5, 30, 40)}; // its own layer: any factor
  const DoubtfulErrors errors = doubtfulErrors(rows);
  EXPECT_EQ(errors.rows, 4U);
  EXPECT_NEAR(errors.mape, (0.5 + 0.25) / 4, 1e-12);
  EXPECT_NEAR(errors.bestFactorMape, 1.0 / 4, 1e-12);
  for (ScoredRow &row : rows) {
    row.doubtful = false;
  }
  EXPECT_EQ(doubtfulErrors(rows).rows, 0U);
}

TEST(DoubtfulRows, CandidatesAreJudgedOneByOne) {
  const auto table = TextTable::parse("gfx,token,model_dim,inter_dim,expert,topk,act,dtype_a,"
                                      "dtype_w,q_type,g1u1,block_m,kind,stage,kernel,fam,us\n"
                                      "gfx950,64,4096,256,128,8,Silu,fp8,fp8,per_Token,1,32,"
                                      "exhaustive,stage1,flydsl_moe1_afp8_wfp8_bf16_t32x128x256,"
                                      "flydsl,359.4797\n"
                                      "gfx950,128,4096,256,128,8,Silu,fp8,fp8,per_Token,1,32,"
                                      "exhaustive,stage1,flydsl_moe1_afp8_wfp8_bf16_t32x128x256,"
                                      "flydsl,359.4797\n",
                                      "candidates.csv");
  ASSERT_TRUE(table);
  auto rows = scoreRows({*table}, uncalibrated());
  ASSERT_TRUE(rows);
  markDoubtful(*rows, {*table});
  for (const ScoredRow &row : *rows) {
    EXPECT_FALSE(row.doubtful);
  }
}

} // namespace
} // namespace kw
