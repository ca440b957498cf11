// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decode attention where sequences, tiles and splits don't fit each other: one column, a column
// more or less than a step, splits without any, rows that see nothing, groups that fill no
// fragment. Each in strict mode and, bit for bit, under other orders of waves and data.
#include "ir/Rule.h"
#include "tests/experiments/kernels/RandomTrials.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iterator>
#include <string>

namespace kw {
namespace {

constexpr const char *schedules[] = {
    "attention.1:waves=1",
    "attention.1:waves=2,k=lds,prefetch=0",
    "attention.1:waves=1,k=direct,v=direct,stages=3",
    "attention.1:waves=2,v=direct,tile=32x32,mfma=32x32x16",
    "attention.1:waves=1,prefetch=2,xcd=0",
};

/// Two of the schedules, in turn, and the first where neither is legal (more waves or splits than
/// columns).
void expectProven(const std::string &text, const std::string &more = "") {
  constexpr int timings = 1;
  static std::size_t turn = 0;
  const Problem problem = *parseProblem(text);
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  int tried = 0;
  ++turn;
  for (const std::size_t index : {turn, turn + 2, std::size_t(0)}) {
    const char *each = schedules[index % std::size(schedules)];
    const RandomTrial trial{problem, *parseSchedule(each + more), *targets().front()};
    if ((index == 0 && tried > 0) || !isLegal(problem, trial.schedule, trial.target)) {
      continue;
    }
    ++tried;
    const TrialOutcome outcome = runTrial(trial, *device, 1, timings);
    EXPECT_EQ(outcome.state, TrialOutcome::State::ok) << trial.text() << "\n  " << outcome.detail;
  }
}

TEST(AttentionEdges, ColumnsAroundATile) {
  for (const int skv : {1, 2, 31, 32, 33, 64, 65, 97, 129}) {
    expectProven(fmt::format("attention b=1 hq=2 hkv=1 sq=1 skv={} d=64 lse=1", skv));
  }
}

/// With more queries than columns the first ones see nothing: o is 0 and lse -infinity.
TEST(AttentionEdges, RowsThatSeeNothing) {
  for (const int skv : {1, 15, 16, 17, 40}) {
    expectProven(
        fmt::format("attention b=1 hq=3 hkv=1 sq=16 skv={} d=64 dtype=f16 mask=causal lse=1", skv));
  }
}

/// A causal mask leaves the last splits of the first rows without columns.
TEST(AttentionEdges, SplitsThatSeeNothing) {
  for (const char *split : {",splitkv=2", ",splitkv=3", ",splitkv=13"}) {
    for (const int skv : {70, 450}) {
      expectProven(
          fmt::format("attention b=2 hq=4 hkv=2 sq=9 skv={} d=64 mask=causal lse=1 layout=bshd",
                      skv),
          split);
    }
  }
}

TEST(AttentionEdges, GroupsThatFillNoFragment) {
  for (const int group : {1, 5, 16, 17, 24, 33}) {
    for (const int queries : {1, 3}) {
      expectProven(
          fmt::format("attention b=1 hq={} hkv=1 sq={} skv=70 d=128 lse=1", group, queries),
          ",splitkv=2");
    }
  }
}

/// Scores far above and below what 2^x of f32 holds.
TEST(AttentionEdges, LargeScales) {
  for (const char *scale : {"1e-6", "8", "300"}) {
    expectProven(fmt::format(
        "attention b=1 hq=4 hkv=1 sq=2 skv=100 d=64 mask=causal lse=1 scale={}", scale));
  }
}

} // namespace
} // namespace kw
