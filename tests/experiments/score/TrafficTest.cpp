// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/Traffic.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

ScoredRow rowOf(int stage, std::int64_t tokens, double predicted, std::optional<double> counted) {
  ScoredRow row;
  row.row.kind = RowKind::moe;
  row.row.moe.tokens = tokens;
  row.row.moe.stage = stage;
  row.modelCase.emplace().readBytes = predicted;
  row.time.readBytes = counted;
  return row;
}

TEST(Traffic, OfRowsWithCounters) {
  const std::vector<ScoredRow> rows{rowOf(1, 16, 110, 100), rowOf(2, 16, 70, 100),
                                    rowOf(0, 4096, 100, 100), rowOf(1, 16, 500, std::nullopt)};
  const TrafficErrors errors = trafficErrors(rows);
  EXPECT_EQ(errors.all.rows, 3u);
  EXPECT_NEAR(errors.all.mape, 0.4 / 3, 1e-12);
  EXPECT_NEAR(errors.byStage.at("stage1").mape, 0.1, 1e-12);
  EXPECT_NEAR(errors.byStage.at("both").mape, 0, 1e-12);
  EXPECT_NEAR(errors.byRows.at("<=64").mape, 0.2, 1e-12);
}

/// Of a real name: weights of the experts in use, activations once.
TEST(Traffic, OfATable) {
  const auto table = TextTable::parse(
      "gfx,token,model_dim,inter_dim,expert,topk,act_type,q_dtype_a,q_dtype_w,q_type,use_g1u1,"
      "kernel_type,stage,block_m,kernel_name,TCC_EA0_RDREQ_sum\n"
      "gfx950,1024,4096,1024,64,4,Silu,float8_e4m3fn,float8_e4m3fn,per_Token,1,ck,stage1,32,"
      "moe_ck2stages_gemm1_256x32x64x256_1x4_TypeCast_v1_F8_F8_B16,4227072\n",
      "t.csv");
  const auto rows = scoreRows({*table}, uncalibrated());
  ASSERT_TRUE(rows);
  EXPECT_FALSE(rows->front().counts()); // no time
  EXPECT_EQ(trafficErrors(*rows).all.rows, 1u);
  EXPECT_LT(trafficErrors(*rows).all.mape, 0.1); // 64 x 2048 x 4096 + 1024 x 4096 bytes
}

} // namespace
} // namespace kw
