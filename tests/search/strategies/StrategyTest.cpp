// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every strategy promises.
#include "tests/search/strategies/Drive.h"

#include <gtest/gtest.h>
#include <set>

namespace kw {
namespace {

double flat(const Schedule &) { return 1; }

class EveryStrategy : public testing::TestWithParam<std::string> {};

TEST_P(EveryStrategy, AsksEachLegalScheduleOnceUntilNoneIsLeft) {
  const Space space(*parseProblem("rmsnorm rows=64 cols=4096"), gfx950());
  const auto strategy = make(GetParam(), space);
  const auto asked = drive(*strategy, flat, 100000);
  EXPECT_EQ(asked.size(), space.size());
  EXPECT_EQ(std::set<std::string>(asked.begin(), asked.end()).size(), asked.size());
  for (const std::string &text : asked) {
    EXPECT_TRUE(space.contains(*parseSchedule(text))) << text;
  }
  EXPECT_TRUE(strategy->ask(1).empty());
}

TEST_P(EveryStrategy, HasOneTraceASeedWhateverTheJobs) {
  const Space space = smallGemmSpace("gemm m=4096 n=4096 k=4096 b=nk");
  const Formula formula = [](const Schedule &schedule) {
    return double(std::get<GemmSchedule>(schedule).tiling.m % 48);
  };
  const auto one = make(GetParam(), space, 5, 1);
  const auto three = make(GetParam(), space, 5, 3);
  EXPECT_EQ(drive(*one, formula, 100), drive(*three, formula, 100));
  EXPECT_EQ(one->estimated(), three->estimated());
}

TEST_P(EveryStrategy, HasNothingToAskInAnEmptySpace) {
  const Space space(*parseProblem("gemm m=64 n=64 k=63 dtype=mxfp4"), gfx950());
  EXPECT_TRUE(make(GetParam(), space)->ask(10).empty());
}

TEST_P(EveryStrategy, AsksNoMoreThanWanted) {
  const Space space(*parseProblem("rmsnorm rows=64 cols=4096"), gfx950());
  const auto strategy = make(GetParam(), space);
  EXPECT_EQ(strategy->ask(0).size(), 0u);
  EXPECT_EQ(strategy->ask(7).size(), 7u);
}

INSTANTIATE_TEST_SUITE_P(Strategies, EveryStrategy,
                         testing::Values("exhaustive", "random", "evolutionary", "climb"),
                         [](const auto &info) { return info.param; });

TEST(Strategies, AreFoundByName) {
  EXPECT_EQ(strategies().size(), 4u);
  for (const StrategyRow &row : strategies()) {
    EXPECT_EQ(findStrategy(row.name), &row);
    EXPECT_FALSE(row.meaning.empty());
  }
  EXPECT_EQ(findStrategy("clever"), nullptr);
}

} // namespace
} // namespace kw
