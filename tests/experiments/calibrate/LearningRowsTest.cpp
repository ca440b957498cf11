// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/calibrate/LearningRows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

constexpr std::string_view first = "flydsl_moe1_afp8_wfp8_bf16_t32x128x256";
constexpr std::string_view second = "flydsl_moe2_afp8_wfp8_bf16_t32x128x256";

/// One fused row with these cells for us,us1,us2.
std::vector<ScoredRow> learnt(const std::string &times, bool oneStage = false) {
  const auto table = TextTable::parse(
      fmt::format(
          "gfx,token,model_dim,inter_dim,expert,topk,act,dtype_a,dtype_w,q_type,g1u1,"
          "block_m,run_1stage,kernel1,fam1,kernel2,fam2,us,us1,us2\n"
          "gfx950,64,4096,256,128,8,Silu,fp8,fp8,per_Token,1,32,{},{},flydsl,{},flydsl,{}\n",
          oneStage ? 1 : 0, first, second, times),
      "moe.csv");
  EXPECT_TRUE(table);
  auto rows = learningRows({*table}, uncalibrated());
  EXPECT_TRUE(rows);
  return rows ? *rows : std::vector<ScoredRow>();
}

TEST(LearningRows, KernelsFollowWithTheirOwnTimes) {
  const auto rows = learnt("100,60,40");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].time.us, 100);
  EXPECT_EQ(rows[1].time.us, 60);
  EXPECT_EQ(rows[2].time.us, 40);
  EXPECT_EQ(rows[1].row.kernels.front().name, first);
  EXPECT_EQ(rows[2].row.kernels.front().name, second);
  EXPECT_EQ(rows[2].row.moe.stage, 2);
  EXPECT_NEAR(rows[0].modelCase->analytic.timeUs,
              rows[1].modelCase->analytic.timeUs + rows[2].modelCase->analytic.timeUs, 1e-9);
}

/// What stands as the first kernel's time alone may be that of both.
TEST(LearningRows, OneTimeAloneIsNoKernels) {
  for (const char *times : {"100,100,", "100,100,0", "100,,40", "100,,"}) {
    const auto rows = learnt(times);
    ASSERT_EQ(rows.size(), 3U) << times;
    EXPECT_EQ(rows[0].time.us, 100) << times;
    EXPECT_FALSE(rows[1].time.us || rows[2].time.us) << times;
  }
}

TEST(LearningRows, OneKernelIsOneRow) { EXPECT_EQ(learnt("100,60,40", true).size(), 1U); }

} // namespace
} // namespace kw
