// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/foreign/MeasuredRows.h"
#include "costmodel/foreign/MeasuredTimes.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

TextTable tableOf(const std::string &text) { return *TextTable::parse(text, "t.csv"); }

TEST(MeasuredRows, ReadsGemm) {
  const auto rows = measuredRows(
      tableOf("gfx,cu_num,op,dtype_a,dtype_b,dtype_out,scale,batch,M,N,K,b_preshuffle,bias,"
              "kernel_family,kernel_name,tile_m,tile_n,tile_k,split_k,us\n"
              "gfx950,256,gemm,fp8,fp8,bf16,rowwise,1,16,512,1024,1,0,ck,some_name,32,64,,4,7\n"));
  ASSERT_TRUE(rows);
  const MeasuredRow &row = rows->front();
  EXPECT_EQ(row.number, 1u);
  EXPECT_EQ(row.kind, RowKind::gemm);
  EXPECT_EQ(row.gemm.m, 16);
  EXPECT_EQ(row.gemm.n, 512);
  EXPECT_EQ(row.gemm.k, 1024);
  EXPECT_TRUE(row.gemm.preshuffle);
  EXPECT_FALSE(row.gemm.bias);
  ASSERT_EQ(row.kernels.size(), 1u);
  EXPECT_EQ(row.kernels[0].generator, "ck");
  EXPECT_EQ(row.kernels[0].tileM, 32);
  EXPECT_FALSE(row.kernels[0].tileK);
  EXPECT_EQ(row.kernels[0].splitK, 4);
  EXPECT_EQ(row.damage, "");
}

TEST(MeasuredRows, ReadsBothStagesOfMoe) {
  const auto rows = measuredRows(
      tableOf("token,model_dim,inter_dim,expert,topk,act,dtype_a,dtype_w,q_type,g1u1,block_m,"
              "run_1stage,us,kernel1,fam1,tile_m1,kernel2,fam2,tile_m2\n"
              "8,1024,256,16,2,Silu,fp4,fp4,per_1x32,1,32,0,5,one,ck,16,two,flydsl,64\n"
              "8,1024,256,16,2,Silu,fp4,fp4,per_1x32,1,32,1,5,one,asm,16,,,\n"));
  ASSERT_TRUE(rows);
  const MeasuredRow &both = (*rows)[0];
  EXPECT_EQ(both.moe.stage, 0);
  ASSERT_EQ(both.kernels.size(), 2u);
  EXPECT_EQ(both.kernels[1].name, "two");
  EXPECT_EQ(both.kernels[1].tileM, 64);
  EXPECT_TRUE((*rows)[1].moe.oneStage);
  EXPECT_EQ((*rows)[1].kernels.size(), 1u);
}

TEST(MeasuredRows, ReadsACandidateOfOneStage) {
  const auto rows = measuredRows(
      tableOf("token,model_dim,inter_dim,expert,topk,dtype_a,dtype_w,q_type,kind,stage,kernel,fam\n"
              "8,1024,256,16,2,fp8,fp8,per_Token,exhaustive,stage2,name,ck\n"
              "8,1024,256,16,2,fp8,fp8,per_Token,exhaustive,asm_1stage,name,asm\n"));
  EXPECT_EQ((*rows)[0].moe.stage, 2);
  EXPECT_EQ((*rows)[0].kernels[0].name, "name");
  EXPECT_TRUE((*rows)[1].moe.oneStage);
}

TEST(MeasuredRows, ReadsADispatchWithItsCounters) {
  const TextTable table =
      tableOf("gfx,token,model_dim,inter_dim,expert,topk,act_type,q_dtype_a,q_dtype_w,q_type,"
              "use_g1u1,kernel_type,stage,block_m,kernel_name,bench_us,TCC_EA0_RDREQ_sum\n"
              "gfx950,8,1024,256,16,2,Silu,float8_e4m3fn,bfloat16,per_Token,0,ck,stage1,32,name,9,"
              "1000.0\n"
              "gfx950,8,1024,256,16,2,Silu,float8_e4m3fn,bfloat16,per_Token,0,ck,stage1,32,name,9,"
              "\n");
  const auto rows = measuredRows(table);
  ASSERT_TRUE(rows);
  const MeasuredRow &row = rows->front();
  EXPECT_EQ(row.typeA, "float8_e4m3fn");
  EXPECT_EQ(row.typeB, "bfloat16");
  EXPECT_EQ(row.moe.activation, "Silu");
  EXPECT_FALSE(row.moe.gated);
  EXPECT_EQ(row.kernels[0].generator, "ck");
  EXPECT_EQ(row.damage, "");
  const auto times = measuredTimes(table);
  EXPECT_EQ(times[0].readBytes, 128000);
  EXPECT_FALSE(times[1].readBytes);
  EXPECT_FALSE(times[0].us); // taken under a profiler: no time to judge by
}

TEST(MeasuredRows, ReadsAttention) {
  const auto rows = measuredRows(tableOf("gfx,op,dtype,B,Hq,Hkv,Sq,Skv,D,causal,impl\n"
                                         "gfx950,attn_fwd,bf16,2,8,4,512,1024,128,1,ck\n"));
  const AttentionRow &attention = rows->front().attention;
  EXPECT_EQ(attention.keys, 1024);
  EXPECT_TRUE(attention.causal);
  EXPECT_EQ(rows->front().kernels[0].generator, "ck");
}

TEST(MeasuredRows, KeepsABadRowAndSaysWhy) {
  const auto rows = measuredRows(tableOf("M,N,K,dtype_a,dtype_b\n"
                                         "1,2,3,bf16,bf16\n"
                                         "1,-2,3,bf16,bf16\n"
                                         "1,2,3\n"));
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 3u);
  EXPECT_EQ((*rows)[0].damage, "");
  EXPECT_EQ((*rows)[1].damage, "column N: not a size from 1 to 2^31-1");
  EXPECT_EQ((*rows)[2].damage, "3 cells where the header has 5");
}

TEST(MeasuredRows, RefusesUnknownColumns) {
  const auto rows = measuredRows(tableOf("x,y\n1,2\n"));
  ASSERT_FALSE(rows);
  EXPECT_NE(rows.error().message.find("accepted are tables of GEMM"), std::string::npos);
}

TEST(MeasuredTimes, KeepsFlagsThatForbidCounting) {
  const auto times = measuredTimes(tableOf("us,flags,split\n"
                                           "5,,train\n"
                                           "5,fits_mall|tiny_us,val\n"
                                           "5,hbm|fits_mall|peak,test\n"
                                           ",,\n"
                                           "-1,,\n"));
  EXPECT_EQ(times[0].us, 5);
  EXPECT_EQ(times[0].flags, "");
  EXPECT_EQ(times[1].flags, "");
  EXPECT_EQ(times[2].flags, "hbm|peak");
  EXPECT_EQ(times[2].split, "test");
  EXPECT_FALSE(times[3].us);
  EXPECT_FALSE(times[4].us);
}

TEST(MeasuredTimes, MarksWrongResults) {
  const auto times = measuredTimes(tableOf("us,err,kind\n5,20.0%,exhaustive\n5,20.1%,\n5,,\n"));
  EXPECT_EQ(times[0].flags, "");
  EXPECT_TRUE(times[0].exhaustive);
  EXPECT_EQ(times[1].flags, "wrong_result");
  EXPECT_FALSE(times[2].err);
}

} // namespace
} // namespace kw
