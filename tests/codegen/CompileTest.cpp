// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/Compile.h"

#include "ir/KernelPlan.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace kw;
using testing::HasSubstr;

namespace {

const Target &gfx950() { return **findTarget("gfx950"); }

Expected<Compiled> compiled(const char *problem, const char *schedule,
                            const CompileOptions &options = {}) {
  return compile(*parseProblem(problem), *parseSchedule(schedule), gfx950(), options);
}

constexpr const char *gemm = "gemm m=512 n=1024 k=512 dtype=bf16 b=nk";

} // namespace

TEST(Compile, IllegalScheduleNamesTheRule) {
  const auto result = compiled(gemm, "gemm.1:tile=128x128x48,group=0");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, Error::Kind::badInput);
  EXPECT_THAT(result.error().message, HasSubstr("illegal schedule"));
}

TEST(Compile, TextsOnlyWhenAskedFor) {
  const auto result = compiled(gemm, "gemm.1:group=0", {true, true, true, true});
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_THAT(result->texts.at("kw.mlir"), HasSubstr("kw.mfma [16, 16, 32]"));
  EXPECT_THAT(result->texts.at("mlir"), HasSubstr("rocdl.mfma.f32.16x16x32.bf16"));
  EXPECT_THAT(result->texts.at("mlir"), testing::Not(HasSubstr("kw.mfma")));
  EXPECT_THAT(result->texts.at("ll"), HasSubstr("amdgpu_kernel"));
  EXPECT_THAT(result->texts.at("s"), HasSubstr("v_mfma_f32_16x16x32_bf16"));
  EXPECT_TRUE(compiled(gemm, "gemm.1:group=0")->texts.empty());
}

TEST(Compile, SameInputSameBytes) {
  EXPECT_EQ(compiled(gemm, "gemm.1:group=0")->object.hsaco,
            compiled(gemm, "gemm.1:group=0")->object.hsaco);
}

TEST(Compile, RunTimeSizesDoNotChangeTheCode) {
  EXPECT_EQ(compiled(gemm, "gemm.1:group=0")->object.hsaco,
            compiled("gemm m=500 n=1024 k=512 dtype=bf16 b=nk", "gemm.1:group=0")->object.hsaco);
}

TEST(Compile, ResourcesAreThePlans) {
  const auto result = compiled(gemm, "gemm.1:group=0");
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->object.kernels.size(), 1u);
  const KernelResources &kernel = result->object.kernels[0];
  const Problem problem = *parseProblem(gemm);
  const Schedule schedule = *parseSchedule("gemm.1:group=0");
  const LaunchPlan launch = makePlan(problem, schedule, gfx950()).launches[0];
  EXPECT_EQ(kernel.ldsBytes, launch.ldsBytes);
  EXPECT_EQ(kernel.kernel, kernelName(problem, schedule));
  EXPECT_EQ(kernel.scratchBytes, 0);
  EXPECT_EQ(kernel.vgprSpills + kernel.sgprSpills, 0);
  // Three pointers and four sizes, without hidden arguments.
  EXPECT_EQ(kernel.kernargBytes,
            kernelInterface(problem, schedule, gfx950()).launches[0].kernargBytes);
  EXPECT_GT(kernel.occupancy, 0);
}

TEST(Compile, AccumulatorsLieWhereTheScheduleSays) {
  const auto inVgpr = compiled(gemm, "gemm.1:group=0");
  const auto inAgpr = compiled(gemm, "gemm.1:group=0,acc=agpr");
  EXPECT_EQ(inVgpr->object.kernels[0].agpr, 0);
  EXPECT_EQ(inAgpr->object.kernels[0].agpr, 64);
  EXPECT_LT(inAgpr->object.kernels[0].vgpr, inVgpr->object.kernels[0].vgpr);
}

TEST(Compile, FingerprintNamesTheCompiler) {
  EXPECT_THAT(compilerFingerprint(), HasSubstr("llvm 22."));
}
