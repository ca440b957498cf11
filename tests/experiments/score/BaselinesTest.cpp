// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/Baselines.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

std::optional<double> baselineUs(std::string_view name, const std::string &problem,
                                 const std::string &tile) {
  const auto table = TextTable::parse(
      fmt::format("gfx,cu_num,op,dtype_a,dtype_b,dtype_out,M,N,K,kernel_family,kernel_name,tile_m,"
                  "tile_n,tile_k,split_k\n{},256,gemm,bf16,bf16,bf16,{},ck,name,{}\n",
                  problem.starts_with("gfx942") ? "gfx942" : "gfx950",
                  problem.substr(problem.find(' ') + 1), tile),
      "t.csv");
  const auto rows = scoreRows({*table}, uncalibrated());
  EXPECT_TRUE(rows && rows->front().modelCase) << rows->front().refusal;
  const auto all = baselines();
  return std::ranges::find(all, name, &Baseline::name)->us(rows->front());
}

TEST(Baselines, OrigamiInWordsOfOurOwn) {
  // One tile a CU, 8 steps of 2,048 clocks, 500 each for the loop. Loads are hidden but for the
  // first: 16 MiB a step from the L2s at 7,083 bytes a clock. Results of 32 MiB leave at that rate.
  const auto us = baselineUs("origami", "gfx950 4096,4096,512", "256,256,64,1");
  ASSERT_TRUE(us);
  const double clocks = *us * 2400;
  EXPECT_GT(clocks, 9900 + 1500 + 8 * (2048 + 500));
  EXPECT_LT(clocks, 9900 + 1500 + 9 * 2369 + 8 * 500 + 4737 + 300);
}

TEST(Baselines, OrigamiCountsWholeTimesteps) {
  const double full = *baselineUs("origami", "gfx950 4096,4096,512", "256,256,64,1");
  const double more = *baselineUs("origami", "gfx950 4352,4096,512", "256,256,64,1");
  EXPECT_NEAR((more - 9900 / 2400.0) / (full - 9900 / 2400.0), 2, 1e-6);
}

TEST(Baselines, BoostingIsWhatACrossValidationSaid) {
  const auto all = baselines();
  const Baseline &boosting = *std::ranges::find(all, "boosting", &Baseline::name);
  ScoredRow row;
  EXPECT_FALSE(boosting.us(row));
  row.boostedUs = 12.5;
  EXPECT_EQ(boosting.us(row), 12.5);
}

TEST(Baselines, OrigamiKnowsGfx950Alone) {
  EXPECT_FALSE(baselineUs("origami", "gfx942 4096,4096,512", "256,256,64,1"));
  EXPECT_TRUE(baselineUs("roofline", "gfx942 4096,4096,512", "256,256,64,1"));
}

} // namespace
} // namespace kw
