// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Proof by mutation: flaws of one instruction in our kernels. At least 99 of 100 that change an
// output under adversarial time are found by one strict run, with a finding unless it is an address
// that is off; the kernels as they are have none.
#include "runtime/Mutation.h"
#include "codegen/Compile.h"
#include "runtime/Launcher.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace kw {
namespace {

struct Case {
  const char *problem, *schedule;
  int cus = 256; ///< stream-K cuts small problems on few CUs only
};

class MutationTest : public testing::TestWithParam<Case> {};

TEST_P(MutationTest, HarmfulMutantsAreFound) {
  Target target = *targets().front();
  target.cus = GetParam().cus;
  target.xcds = std::min(target.xcds, target.cus);
  const auto compiled =
      compile(*parseProblem(GetParam().problem), *parseSchedule(GetParam().schedule), target);
  ASSERT_TRUE(compiled) << compiled.error().message;
  const auto run = [](const CodeObject &object, const RunOptions &how) {
    return runFromFresh(object, ".", *makeEmulatedDevice(), how);
  };
  const auto report = mutate(compiled->object, {.schedules = 5, .jobs = 2}, run);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->original.empty()) << report->original.front().detail;
  int harmful = 0, found = 0;
  for (const MutantOutcome &mutant : report->mutants) {
    harmful += mutant.harmful;
    found += mutant.harmful && mutant.found();
    // Another address may give nothing but wrong numbers.
    const bool isFlagged = mutant.hasFinding || mutant.mutation.kind == MutationKind::address;
    if (mutant.escaped() || (mutant.harmful && !isFlagged)) {
      ADD_FAILURE_AT(__FILE__, __LINE__)
          << name(mutant.mutation.kind) << " " << mutant.mutation.what << " at "
          << mutant.mutation.pc << ": " << mutant.harm;
    }
  }
  EXPECT_GT(harmful, 10);
  EXPECT_GE(found, 0.99 * harmful);
}

INSTANTIATE_TEST_SUITE_P(
    OurKernels, MutationTest,
    testing::Values(
        Case{"gemm m=128 n=128 k=256 dtype=bf16 b=nk", "gemm.1:group=0,xcd=0"},
        Case{"gemm m=100 n=72 k=128 dtype=f16 b=nk", "gemm.1:tile=64x64x32,group=0,xcd=0"},
        Case{"gemm m=64 n=64 k=256 dtype=bf16 b=nk",
             "gemm.1:tile=64x64x32,waves=2x2,stages=3,prefetch=2,group=0,xcd=0"},
        Case{"gemm m=64 n=64 k=256 dtype=bf16 b=nk",
             "gemm.1:tile=64x64x64,waves=2x4,schedule=pingpong,prio=1,group=0,xcd=0"},
        Case{"gemm m=64 n=64 k=256 dtype=bf16 b=nk",
             "gemm.1:tile=64x64x64,waves=4x2,stages=3,prefetch=2,schedule=pingpong,group=0,xcd=0"},
        Case{"gemm m=128 n=128 k=256 dtype=bf16 b=nk",
             "gemm.1:tile=128x128x64,waves=2x4,schedule=pingpong,quad=1,group=0,xcd=0"},
        Case{"gemm m=64 n=64 k=256 dtype=bf16 b=nk",
             "gemm.1:tile=64x64x64,waves=2x2,splitk=2,group=0,xcd=0"},
        Case{"gemm m=64 n=64 k=256 dtype=bf16 b=nk",
             "gemm.1:tile=64x64x64,waves=2x2,splitk=2,reduce=atomic,group=0,xcd=0"},
        Case{"gemm m=16 n=64 k=512 dtype=bf16 b=nk",
             "gemm.1:tile=16x64x128,waves=1x2,slicek=2,group=0,xcd=0"},
        Case{"gemm m=100 n=140 k=128 dtype=f16 b=nk epilogue=bias,silu",
             "gemm.1:tile=64x128x32,waves=2x2,epi=lds,group=0,xcd=0"},
        Case{"gemm m=100 n=100 k=640 dtype=bf16 b=nk",
             "gemm.1:tile=64x64x64,waves=2x2,grid=streamk,group=0", 3},
        Case{"gemm m=100 n=100 k=640 dtype=bf16 b=nk",
             "gemm.1:tile=64x64x64,waves=2x2,grid=streamk,reduce=atomic,group=0", 3},
        Case{"attention b=1 hq=8 hkv=1 sq=1 skv=256 d=64 dtype=bf16",
             "attention.1:waves=2,splitkv=2"},
        Case{"attention b=1 hq=8 hkv=2 sq=4 skv=200 d=128 dtype=bf16 mask=causal",
             "attention.1:waves=2,k=lds,prefetch=0,splitkv=2"},
        Case{"rmsnorm rows=9 cols=1000 residual=1", "rmsnorm.1:vec=4"}));

} // namespace
} // namespace kw
