// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Proof by mutation: flaws of one instruction in our kernels. At least 99 of 100 that change an
// output under adversarial time are found by one strict run; the kernels as they are have none.
#include "runtime/Mutation.h"
#include "codegen/Compile.h"
#include "runtime/Launcher.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

struct Case {
  const char *problem, *schedule;
};

class MutationTest : public testing::TestWithParam<Case> {};

TEST_P(MutationTest, HarmfulMutantsAreFound) {
  const Target &target = *targets().front();
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
    if (mutant.escaped()) {
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
    testing::Values(Case{"gemm m=128 n=128 k=256 dtype=bf16 b=nk", "gemm.1:group=0,xcd=0"},
                    Case{"gemm m=100 n=72 k=128 dtype=f16 b=nk",
                         "gemm.1:tile=64x64x32,group=0,xcd=0"},
                    Case{"rmsnorm rows=9 cols=1000 residual=1", "rmsnorm.1:vec=4"}));

} // namespace
} // namespace kw
