// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/generators/TritonKernel.h"

#include "ir/Problem.h"
#include "ir/support/TextList.h"

#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>

namespace kw {
namespace {

using testing::HasSubstr;

const Target &gfx950() { return **findTarget("gfx950"); }

/// A kernel that Triton compiled: triton_kernels.csv.
struct Compiled {
  std::string text; ///< problem and schedule
  Gemm gemm;
  TritonGemmSchedule schedule;
  std::string waves, mfma;
  std::int64_t lds = 0, ldsOld = 0;
  int vgpr = 0, scratch = 0;
};

std::vector<Compiled> compiledKernels() {
  std::ifstream file(KW_SOURCE_DIR "/tests/ir/generators/triton_kernels.csv");
  std::vector<Compiled> kernels;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("gemm ")) {
      continue;
    }
    const std::vector<std::string_view> fields = split(line, ';');
    const auto number = [&](std::size_t i) { return std::stoi(std::string(fields.at(i))); };
    kernels.push_back({fmt::format("{} {}", fields[0], fields[1]), parseProblem(fields[0])->gemm(),
                       std::get<TritonGemmSchedule>(*parseSchedule(fields[1])),
                       std::string(fields[2]), std::string(fields[3]), number(4), number(7),
                       number(5), number(6)});
  }
  return kernels;
}

TEST(TritonKernel, PlacesWavesAndChoosesInstructionsAsTriton) {
  const std::vector<Compiled> kernels = compiledKernels();
  ASSERT_GT(kernels.size(), 150u);
  for (const Compiled &each : kernels) {
    const TritonKernel kernel = tritonKernel(each.gemm, each.schedule, gfx950());
    EXPECT_EQ(fmt::format("{}x{}", kernel.wavesM, kernel.wavesN), each.waves) << each.text;
    EXPECT_EQ(fmt::format("{}x{}x{}", kernel.mfmaM, kernel.mfmaN, kernel.mfmaK), each.mfma)
        << each.text;
  }
}

TEST(TritonKernel, TakesTheLdsThatTritonTakes) {
  for (const Compiled &each : compiledKernels()) {
    const auto bytes = [&](TritonPipeliner pipeliner) {
      return tritonKernel(each.gemm, each.schedule, gfx950(), pipeliner).ldsBytes;
    };
    if (each.schedule.numStages > 1) {
      EXPECT_EQ(bytes(TritonPipeliner::direct), each.lds) << each.text;
      EXPECT_EQ(bytes(TritonPipeliner::registers), each.ldsOld) << each.text;
    } else {
      // Without a pipeline small tiles change places through lanes instead of LDS.
      EXPECT_GE(bytes(TritonPipeliner::direct), each.lds) << each.text;
      EXPECT_GE(bytes(TritonPipeliner::registers), each.ldsOld) << each.text;
    }
    EXPECT_GE(tritonLdsBytes(each.gemm, each.schedule, gfx950()), std::max(each.lds, each.ldsOld))
        << each.text;
  }
}

TEST(TritonKernel, PipelinesNoSingleStep) {
  const auto lds = [](std::string_view problem) {
    const auto schedule = std::get<TritonGemmSchedule>(
        *parseSchedule("triton.gemm.1:BLOCK_M=16,BLOCK_N=16,BLOCK_K=128,num_stages=3"));
    return tritonKernel(parseProblem(problem)->gemm(), schedule, gfx950()).ldsBytes;
  };
  EXPECT_EQ(lds("gemm m=256 n=256 k=128 dtype=f32"), 8192); // as Triton 3.9.0 compiles it
  EXPECT_EQ(lds("gemm m=256 n=256 k=129 dtype=f32"), 49152);
}

TEST(TritonKernel, PredictsRegistersAndSpills) {
  double error = 0;
  int counted = 0, spilled = 0, missed = 0, feared = 0;
  for (const Compiled &each : compiledKernels()) {
    const int total = tritonRegisters(each.gemm, each.schedule, gfx950()).total;
    const bool fear = total > tritonRegisterBudget(each.schedule, gfx950());
    if (each.scratch > 0) {
      ++spilled;
      missed += fear ? 0 : 1;
      continue;
    }
    feared += fear ? 1 : 0;
    error += std::abs(total - each.vgpr) / double(each.vgpr);
    ++counted;
  }
  RecordProperty("mean_error_percent", static_cast<int>(100 * error / counted));
  EXPECT_LT(error / counted, 0.15);
  EXPECT_GT(spilled, 10);
  EXPECT_LE(missed, 2); // within a few registers of the limit
  EXPECT_LE(feared, counted / 20);
}

TEST(TritonCall, IsWhatInductorCalls) {
  const auto call = [](std::string_view text) { return tritonCall(parseProblem(text)->gemm()); };
  EXPECT_EQ(call("gemm m=8 n=8 k=8").op, TritonOp::mm);
  EXPECT_EQ(call("gemm m=8 n=8 k=8 batch=3").op, TritonOp::bmm);
  EXPECT_EQ(call("gemm m=8 n=8 k=8 epilogue=bias").op, TritonOp::addmm);
  EXPECT_EQ(call("gemm m=8 n=8 k=8 epilogue=bias").added, TritonAdded::bias);
  EXPECT_EQ(call("gemm m=8 n=8 k=8 epilogue=add").added, TritonAdded::matrix);
  EXPECT_EQ(call("gemm m=8 n=8 k=8 beta=0.5 alpha=2").op, TritonOp::addmm);
  EXPECT_EQ(call("gemm m=8 n=8 k=8 beta=1 batch=2").op, TritonOp::baddbmm);
  for (const auto &[text, why] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"gemm m=8 n=8 k=8 dtype=fp8", "types"},
           {"gemm m=8 n=8 k=8 dtype=bf16 out=f32", "types"},
           {"gemm m=8 n=8 k=8 ldc=16", "gaps"},
           {"gemm m=8 n=8 k=8 epilogue=silu", "epilogue"},
           {"gemm m=8 n=8 k=8 epilogue=bias beta=1", "more than one"},
           {"gemm m=8 n=8 k=8 alpha=2", "alpha"},
           {"gemm m=8 n=8 k=8 b=nk preshuffle=1", "preshuffle"}}) {
    const auto problem = parseProblem(text);
    ASSERT_TRUE(problem) << problem.error().message;
    EXPECT_EQ(tritonCall(problem->gemm()).op, TritonOp::none) << text;
    EXPECT_THAT(std::string(tritonCall(problem->gemm()).refusal), HasSubstr(std::string(why)));
  }
}

TEST(TritonCall, KnowsWhereInductorSplitsK) {
  const auto splits = [](std::string_view text) {
    return splitsKInstead(parseProblem(text)->gemm());
  };
  EXPECT_TRUE(splits("gemm m=64 n=64 k=4096"));
  EXPECT_FALSE(splits("gemm m=64 n=64 k=4095"));
  EXPECT_FALSE(splits("gemm m=65 n=64 k=4096"));
  EXPECT_FALSE(splits("gemm m=64 n=64 k=4096 batch=2"));
  EXPECT_FALSE(splits("gemm m=64 n=64 k=4096 epilogue=bias"));
}

} // namespace
} // namespace kw
