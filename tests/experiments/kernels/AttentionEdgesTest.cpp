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

/// Schedules that are not legal for a problem (more waves or splits than columns) are passed over.
int expectProven(const std::string &text, const std::string &more = "") {
  constexpr int timings = 2;
  const Problem problem = *parseProblem(text);
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  int tried = 0;
  for (const char *each : schedules) {
    const RandomTrial trial{problem, *parseSchedule(each + more), *targets().front()};
    if (!isLegal(problem, trial.schedule, trial.target)) {
      continue;
    }
    ++tried;
    const TrialOutcome outcome = runTrial(trial, *device, 1, timings);
    EXPECT_EQ(outcome.state, TrialOutcome::State::ok) << trial.text() << "\n  " << outcome.detail;
  }
  return tried;
}

TEST(AttentionEdges, ColumnsAroundATile) {
  for (const int skv : {1, 2, 31, 32, 33, 63, 64, 65, 97, 129}) {
    EXPECT_GT(expectProven(fmt::format("attention b=1 hq=2 hkv=1 sq=1 skv={} d=64 lse=1", skv)), 2);
  }
}

/// With more queries than columns the first ones see nothing: o is 0 and lse -infinity.
TEST(AttentionEdges, RowsThatSeeNothing) {
  for (const int skv : {1, 7, 15, 16, 17, 40}) {
    EXPECT_GT(expectProven(fmt::format(
                  "attention b=1 hq=3 hkv=1 sq=16 skv={} d=64 dtype=f16 mask=causal lse=1", skv)),
              2);
  }
}

/// A causal mask leaves the last splits of the first rows without columns.
TEST(AttentionEdges, SplitsThatSeeNothing) {
  for (const char *split : {",splitkv=2", ",splitkv=3", ",splitkv=13"}) {
    for (const int skv : {40, 70, 400, 450}) {
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
      EXPECT_GT(expectProven(fmt::format("attention b=1 hq={} hkv=1 sq={} skv=70 d=128 lse=1",
                                         group, queries),
                             ",splitkv=2"),
                1);
    }
  }
}

/// Scores far above and below what 2^x of f32 holds.
TEST(AttentionEdges, LargeScales) {
  for (const char *scale : {"1e-6", "8", "300"}) {
    EXPECT_GT(expectProven(fmt::format(
                  "attention b=1 hq=4 hkv=1 sq=2 skv=100 d=64 mask=causal lse=1 scale={}", scale)),
              3);
  }
}

} // namespace
} // namespace kw
