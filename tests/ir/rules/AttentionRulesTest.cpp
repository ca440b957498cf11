// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Rule.h"
#include "ir/rules/EmissionLimits.h"

#include <gmock/gmock.h>

namespace kw {
namespace {

using testing::HasSubstr;

const std::string decode = "attention b=1 hq=16 hkv=2 sq=1 skv=4096 d=128";

std::vector<Violation> violations(const std::string &problem, const std::string &schedule) {
  return checkLegal(*parseProblem(problem), *parseSchedule(schedule), **findTarget("gfx950"));
}

std::string firstRule(const std::string &problem, const std::string &schedule) {
  const auto all = violations(problem, schedule);
  return all.empty() ? "" : std::string(all.front().rule);
}

TEST(AttentionRules, RefusesByNameWhatIsNotCompiled) {
  const auto rule = [](const std::string &problem) {
    const auto limit = emissionLimit(*parseProblem(problem), **findTarget("gfx950"));
    return limit ? std::string(limit->rule) : "";
  };
  const std::string sizes = "attention b=1 hq=16 hkv=2 sq=1 skv=640 ";
  EXPECT_EQ(rule(sizes + "d=128"), "");
  EXPECT_EQ(rule("attention b=1 hq=16 hkv=2 sq=17 skv=640 d=128"), "notSupported.prefill");
  EXPECT_EQ(rule("attention b=1 hq=16 hkv=1 sq=1 skv=640 d=576 dv=512"), "notSupported.latent");
  EXPECT_EQ(rule(sizes + "d=192 dv=128"), "notSupported.headDimension");
  EXPECT_EQ(rule(sizes + "d=128 dv=64"), "notSupported.valueDimension");
  EXPECT_EQ(rule(sizes + "d=128 dtype=f32"), "notSupported.type");
  EXPECT_EQ(rule(sizes + "d=128 kvdtype=fp8"), "notSupported.kvType");
  EXPECT_EQ(rule(sizes + "d=128 mask=window:8"), "notSupported.mask");
  EXPECT_EQ(rule(sizes + "d=128 mask=document:x"), "notSupported.mask");
  EXPECT_EQ(rule(sizes + "d=128 score=alibi"), "notSupported.score");
  EXPECT_EQ(rule(sizes + "d=128 scale=-1"), "notSupported.scale");
  EXPECT_EQ(rule(sizes + "d=128 varlen=x"), "notSupported.varlen");
  EXPECT_EQ(rule(sizes + "d=128 page=16"), "notSupported.page");
  EXPECT_EQ(rule(sizes + "d=128 sinks=1"), "notSupported.sinks");
  const auto shared =
      emissionLimit(*parseProblem(sizes + "d=128"),
                    *parseSchedule("attention.1:waves=4,rowwaves=4"), **findTarget("gfx950"));
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->rule, "notSupported.rowWaves");
}

TEST(AttentionRules, RefusesByNameWhatNoKernelCouldDo) {
  const auto rule = [](const std::string &problem) { return firstRule(problem, "attention.1:"); };
  const std::string sizes = "attention b=1 hq=16 hkv=2 sq=1 skv=640 ";
  EXPECT_EQ(rule(sizes + "d=128 dtype=f32"), "notSupported.type");
  EXPECT_EQ(rule(sizes + "d=128 kvdtype=f16"), "notSupported.kvType");
  EXPECT_EQ(rule(sizes + "d=72"), "notSupported.headDimension");
  EXPECT_EQ(rule(sizes + "d=128 varlen=x"), "varlenFile");
  EXPECT_EQ(rule(sizes + "d=128 mask=document:x"), "documentFile");
}

TEST(AttentionRules, PrefillSharesKeysAndValues) {
  const std::string prefill = "attention b=1 hq=16 hkv=2 sq=4096 skv=4096 d=128";
  const std::string fast = "attention.1:tile=256x64,waves=8,mfma=32x32x16,k=direct,v=direct,"
                           "rowwaves=8,lazy=1";
  EXPECT_EQ(firstRule(prefill, fast), "");
  EXPECT_EQ(firstRule(prefill + " mask=causal", fast), "");
  EXPECT_EQ(firstRule(prefill, "attention.1:tile=128x32,waves=4,mfma=32x32x16,k=lds,rowwaves=4"),
            "");
  EXPECT_EQ(firstRule(decode, "attention.1:waves=4,rowwaves=4,k=direct,v=direct,tile=64x32"),
            "usefulRowWaves");
  EXPECT_EQ(firstRule(prefill, "attention.1:tile=64x64,waves=8,mfma=32x32x16,k=direct,v=direct,"
                               "rowwaves=8"),
            "rows");
  EXPECT_EQ(firstRule(prefill, "attention.1:tile=256x64,waves=8,k=direct,v=direct,rowwaves=4"),
            "rowWaves");
  EXPECT_EQ(firstRule(prefill, "attention.1:tile=256x64,waves=8,rowwaves=8"), "sharedKeys");
  EXPECT_EQ(firstRule(prefill, "attention.1:tile=16x32,waves=1,lazy=1"), "lazyRescale");
  const std::string latent = "attention b=8 hq=128 hkv=1 sq=1 skv=4096 d=576 dv=512";
  EXPECT_EQ(firstRule(latent, "attention.1:tile=64x32,waves=4,k=direct,v=direct,rowwaves=4"), "");
  EXPECT_EQ(firstRule(latent, "attention.1:tile=64x32,waves=4,k=direct,rowwaves=4"), "latentTile");
}

/// Where q has 8 bits too, so do the products, at the full rate of the wide instructions.
TEST(AttentionRules, EightBitProductsHaveTheirOwnInstructions) {
  const std::string sizes = "attention b=1 hq=16 hkv=2 sq=4096 skv=4096 d=128 ";
  const auto rule = [&](const std::string &types, const std::string &mfma) {
    return firstRule(sizes + types, "attention.1:tile=256x64,waves=8,k=direct,v=direct,"
                                    "rowwaves=8,mfma=" +
                                        mfma);
  };
  EXPECT_EQ(rule("dtype=fp8", "32x32x64"), "");
  EXPECT_EQ(rule("dtype=fp8 kvdtype=bf8", "32x32x64"), "");
  EXPECT_EQ(rule("dtype=fp8", "32x32x16"), "");
  EXPECT_EQ(rule("dtype=fp8", "16x16x128"), "wholeSlices"); // of 64 columns
  EXPECT_EQ(rule("dtype=bf16 kvdtype=fp8", "32x32x64"), "matrixInstruction");
  EXPECT_EQ(rule("dtype=bf16 kvdtype=fp8", "32x32x16"), "");
  EXPECT_EQ(rule("dtype=fp8 kvdtype=bf16", "32x32x16"), "");
}

TEST(AttentionRules, SaysWhatFailsAndWhatWouldBeLegal) {
  const auto message = [](const std::string &schedule) {
    const auto all = violations(decode, "attention.1:" + schedule);
    return all.empty() ? std::string() : std::string(all.front().rule) + ": " + all.front().message;
  };
  EXPECT_EQ(message(""), "");
  EXPECT_EQ(message("mfma=32x32x16,tile=32x32"), "");
  EXPECT_EQ(message("k=direct,v=direct,stages=3,waves=2"), "");
  EXPECT_EQ(message("v=direct,stages=3,prefetch=2"), "");
  EXPECT_THAT(message("mfma=16x16x16"), HasSubstr("matrixInstruction"));
  EXPECT_THAT(message("tile=16x32,mfma=32x32x16"), HasSubstr("rows: 16 rows"));
  EXPECT_THAT(message("tile=64x32"), HasSubstr("usefulRows"));
  EXPECT_THAT(message("tile=16x48"), HasSubstr("columns: 48"));
  EXPECT_THAT(message("waves=3"), HasSubstr("waves"));
  EXPECT_THAT(message("splitkv=64"), HasSubstr("usefulSplits"));
  EXPECT_THAT(message("v=registers"), HasSubstr("vPath"));
  EXPECT_THAT(message("vk=8"), HasSubstr("kVector"));
  EXPECT_THAT(message("lk=plain"), HasSubstr("kLayout"));
  EXPECT_THAT(message("stages=3"), HasSubstr("stages=3; direct loads need 2"));
  EXPECT_THAT(message("v=direct,stages=3"), HasSubstr("prefetch=1 with stages=3"));
  EXPECT_THAT(message("combine=last"), HasSubstr("without splits"));
  EXPECT_THAT(message("v=direct,k=direct,waves=8"), HasSubstr("ldsCapacity"));
}

/// No supported problem is left without a schedule, however small.
TEST(AttentionRules, TheSmallestScheduleIsAlwaysLegal) {
  for (const char *sizes : {"b=1 hq=1 hkv=1 sq=1 skv=1", "b=3 hq=7 hkv=7 sq=16 skv=2 mask=causal",
                            "b=1 hq=256 hkv=1 sq=16 skv=100000 lse=1"}) {
    for (const char *rest : {" d=64", " d=128 dtype=f16", " d=128 layout=bshd"}) {
      EXPECT_EQ(firstRule(std::string("attention ") + sizes + rest, "attention.1:waves=1"), "")
          << sizes << rest;
    }
  }
}

} // namespace
} // namespace kw
