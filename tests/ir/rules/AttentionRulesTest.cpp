// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Rule.h"

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

TEST(AttentionRules, RefusesByNameWhatNoKernelComputes) {
  const auto rule = [](const std::string &problem) { return firstRule(problem, "attention.1:"); };
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
