// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes of GEMM that are known to break kernels: tiles, steps and vectors that don't divide them,
// sizes of one, operands beyond 4 GiB. Each in every order of a and b, with schedules drawn from
// the legal ones, proven in strict mode. KW_SEED chooses other schedules.
#include "search/Space.h"
#include "tests/experiments/kernels/RandomTrials.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

namespace kw {
namespace {

constexpr const char *orders[] = {"a=mk b=nk", "a=mk b=kn", "a=km b=nk", "a=km b=kn"};

std::uint64_t seed() {
  const char *text = std::getenv("KW_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 1;
}

void expectProven(const std::string &text, const Schedule &schedule) {
  RandomTrial trial{*parseProblem(text), schedule};
  trial.target = *targets().front();
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  const TrialOutcome outcome = runTrial(trial, *device, 1);
  EXPECT_EQ(outcome.state, TrialOutcome::State::ok) << trial.text() << "\n  " << outcome.detail;
}

void expectProven(const std::string &text) {
  const auto problem = parseProblem(text);
  ASSERT_TRUE(problem) << problem.error().message;
  const std::vector<Schedule> drawn = Space(*problem, *targets().front()).sample(1, seed());
  ASSERT_FALSE(drawn.empty()) << "no legal schedule: " << text;
  expectProven(text, drawn.front());
}

class Shapes : public testing::TestWithParam<const char *> {};

TEST_P(Shapes, AreProvenInEveryOrder) {
  for (const char *order : orders) {
    expectProven(std::string("gemm ") + GetParam() + " " + order);
  }
}

INSTANTIATE_TEST_SUITE_P(Gemm, Shapes,
                         testing::Values("m=3 n=5120 k=2880", "m=800 n=384 k=7168",
                                         "m=1272 n=64 k=4096", "m=65 n=136 k=2048",
                                         "m=129 n=72 k=1024", "m=257 n=264 k=512"));
INSTANTIATE_TEST_SUITE_P(Ones, Shapes,
                         testing::Values("m=1 n=300 k=264", "m=200 n=1 k=264", "m=70 n=90 k=1",
                                         "m=1 n=1 k=1", "m=1 n=1 k=1 dtype=i8 out=i32",
                                         "m=1 n=1 k=1 dtype=f32 batch=3",
                                         "m=33 n=65 k=129 dtype=i8 out=i32 batch=2 sb=0"));

TEST(GemmShapes, GridsThatNothingDivides) {
  for (const char *shape : {"m=1100 n=200 k=64 b=nk", "m=200 n=1100 k=64 batch=3 b=nk"}) {
    expectProven(std::string("gemm ") + shape, *parseSchedule("gemm.1:tile=64x64x32,group=2"));
  }
}

TEST(GemmShapes, PackedWeights) {
  const char *wide = "gemm.1:tile=64x128x64,b=registers,stages=3,prefetch=2,schedule=interleaved,"
                     "xcd=0,group=0";
  const char *narrow = "gemm.1:tile=16x64x32,waves=1x4,b=registers,xcd=0,group=0";
  const char *large = "gemm.1:tile=64x128x32,mfma=32x32x16,a=lds,b=registers,prefetch=2,acc=agpr,"
                      "xcd=0,group=0";
  expectProven("gemm m=3 n=5120 k=2880 b=nk preshuffle=1", *parseSchedule(narrow));
  expectProven("gemm m=65 n=136 k=2048 b=nk preshuffle=1", *parseSchedule(wide));
  expectProven("gemm m=65 n=136 k=2048 preshuffle=1 epilogue=bias", *parseSchedule(large));
  expectProven("gemm m=17 n=257 k=96 batch=2 b=nk preshuffle=1", *parseSchedule(narrow));
  // k divided among the waves of a workgroup (a short first step too), and among workgroups.
  expectProven(
      "gemm m=16 n=200 k=1120 preshuffle=1",
      *parseSchedule("gemm.1:tile=16x64x128,waves=1x1,slicek=4,b=registers,xcd=0,group=0"));
  expectProven(
      "gemm m=16 n=200 k=1024 preshuffle=1 beta=1",
      *parseSchedule("gemm.1:tile=16x64x128,waves=1x4,splitk=4,b=registers,xcd=0,group=0"));
}

/// What is loaded to registers for steps behind the last one is counted by waits, used by nobody.
TEST(GemmShapes, PackedWeightsWithFewerStepsThanStages) {
  expectProven("gemm m=320 n=176 k=384 batch=2 dtype=i8 out=i32 sb=0 preshuffle=1",
               *parseSchedule("gemm.1:tile=128x64x256,waves=1x4,mfma=16x16x64,b=registers,epi=swap,"
                              "stages=3,prefetch=2,schedule=interleaved,group=4"));
  expectProven("gemm m=70 n=64 k=32 dtype=bf16 preshuffle=1",
               *parseSchedule("gemm.1:tile=64x64x32,waves=1x4,b=registers,stages=3,prefetch=2,"
                              "group=0,xcd=0"));
}

#ifdef KW_SLOW
TEST(GemmShapes, LargeAndRagged) {
  for (const char *order : orders) {
    expectProven(std::string("gemm m=8160 n=8160 k=8192 ") + order);
  }
}

/// One offset reaches over a tile's rows alone: the operand may be of any size.
TEST(GemmShapes, OperandsBeyondFourGiB) {
  for (const char *text : {"gemm m=300000 n=64 k=8192 b=nk", "gemm m=64 n=300000 k=8192 b=nk",
                           "gemm m=70 n=80 k=64 batch=3 sa=1200000000 sb=0"}) {
    expectProven(text);
  }
}
#endif

} // namespace
} // namespace kw
