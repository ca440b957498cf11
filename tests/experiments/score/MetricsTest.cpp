// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/Metrics.h"
#include "experiments/score/Ranking.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(Metrics, OfFewErrors) {
  const std::vector<ErrorSample> samples{
      {0.05, true, "a"}, {-0.15, true, "a"}, {0.30, false, "a"}, {0.50, false, "b"}};
  const Errors errors = errorsOf(samples);
  EXPECT_NEAR(errors.mape, 0.25, 1e-12);
  EXPECT_NEAR(errors.medianApe, 0.225, 1e-12);
  EXPECT_NEAR(errors.within10, 0.25, 1e-12);
  EXPECT_NEAR(errors.within20, 0.5, 1e-12);
  EXPECT_NEAR(errors.coverage80, 0.5, 1e-12);
  EXPECT_NEAR(mapeByGroup(samples), (0.5 / 3 + 0.5) / 2, 1e-12);
}

TEST(Metrics, QuantilesInterpolate) {
  EXPECT_EQ(quantile({}, 0.5), 0);
  EXPECT_EQ(quantile({3}, 0.9), 3);
  EXPECT_NEAR(quantile({4, 1, 2, 3}, 0.5), 2.5, 1e-12);
  EXPECT_EQ(quantile({4, 1, 2, 3}, 1), 4);
}

TEST(Metrics, BootstrapDrawsGroupsAndRepeats) {
  std::vector<ErrorSample> samples;
  for (int i = 0; i < 200; ++i) {
    samples.push_back({i % 2 == 0 ? 0.1 : 0.3, true, fmt::format("{}", i / 10)});
  }
  // All groups are alike: no spread, however their rows differ.
  const BootstrapIntervals alike = bootstrap(samples, 1);
  EXPECT_NEAR(alike.mape.low, 0.2, 1e-9);
  EXPECT_NEAR(alike.mape.high, 0.2, 1e-9);
  samples.push_back({5.0, false, "odd"});
  const BootstrapIntervals first = bootstrap(samples, 1), second = bootstrap(samples, 1);
  EXPECT_EQ(first.mapeByGroup.high, second.mapeByGroup.high);
  EXPECT_LT(first.mapeByGroup.low, mapeByGroup(samples));
  EXPECT_GT(first.mapeByGroup.high, mapeByGroup(samples));
}

ScoredRow candidate(int index, double predicted, double measured) {
  ScoredRow row;
  row.row.kind = RowKind::moe;
  row.row.moe.tokens = 8;
  row.row.moe.stage = 1;
  row.row.kernels.push_back({"ck", fmt::format("k{}", index)});
  row.modelCase = ModelCase{};
  row.predictedUs = predicted;
  row.time.us = measured;
  row.time.exhaustive = true;
  return row;
}

TEST(Ranking, OfAPerfectAndAReversedOrder) {
  std::vector<ScoredRow> rows;
  for (int i = 0; i < 8; ++i) {
    rows.push_back(candidate(i, 10 + i, 20 + i));
  }
  auto groups = rankingGroups(rows);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].tau, 1);
  EXPECT_EQ(groups[0].top1Regret, 0);
  for (ScoredRow &row : rows) {
    row.predictedUs = -row.predictedUs;
  }
  groups = rankingGroups(rows);
  EXPECT_EQ(groups[0].tau, -1);
  EXPECT_NEAR(groups[0].top1Regret, 27.0 / 20 - 1, 1e-12);
  EXPECT_NEAR(groups[0].top5Regret, 23.0 / 20 - 1, 1e-12);
  EXPECT_NEAR(groups[0].randomRegret, 23.5 / 20 - 1, 1e-12);
}

TEST(Ranking, WrongResultsAndSmallGroupsAreLeftOut) {
  std::vector<ScoredRow> rows;
  for (int i = 0; i < 8; ++i) {
    rows.push_back(candidate(i, 10 + i, 20 + i));
  }
  rows[3].time.flags = "wrong_result";
  EXPECT_TRUE(rankingGroups(rows).empty());
  rows.push_back(candidate(3, 1, 50)); // measured again, correct
  EXPECT_EQ(rankingGroups(rows).size(), 1u);
  rows.push_back(candidate(3, 1, 23)); // the same candidate, faster: still eight
  EXPECT_NEAR(rankingGroups(rows)[0].top1Regret, 23.0 / 20 - 1, 1e-12);
}

} // namespace
} // namespace kw
