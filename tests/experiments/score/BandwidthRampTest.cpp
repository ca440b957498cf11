// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/BandwidthRamp.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

/// A product of m rows that moves `mb` MB in `us`, predicted as `predictedUs`.
ScoredRow rowOf(std::int64_t m, double mb, double us, double predictedUs,
                const std::string &type = "bf16") {
  ScoredRow row;
  row.row.gemm = {m, static_cast<std::int64_t>(mb * 1000), 64};
  row.modelCase.emplace();
  row.modelCase->dtype = type;
  row.modelCase->analytic.timeUs = 3;
  row.modelCase->analytic.gbps = mb * 1e3 / 3;
  row.predictedUs = predictedUs;
  row.time.us = us;
  return row;
}

TEST(BandwidthRamp, MediansOfTheBestKernels) {
  std::vector<ScoredRow> rows{
      rowOf(1, 6, 6, 12),   // 1,000 GB/s, predicted 500
      rowOf(1, 6, 12, 1),   // the same shape, slower: not counted
      rowOf(16, 8, 4, 4),   // 2,000, 2,000
      rowOf(1, 9, 3, 2),    // 3,000, 4,500
      rowOf(17, 6, 1, 1),   // too many rows
      rowOf(1, 30, 10, 10), // another cell
  };
  rows.push_back(rowOf(1, 7, 0.1, 0.1));
  rows.back().time.flags = "hbm"; // wrong by itself
  rows.push_back(rowOf(1, 7, 0.1, 0.1, "i8_row"));
  const auto cells = bandwidthRamp(rows);
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].dtype, "bf16");
  EXPECT_EQ(cells[0].fromMb, 5);
  EXPECT_EQ(cells[0].toMb, 10);
  EXPECT_EQ(cells[0].shapes, 3u);
  EXPECT_DOUBLE_EQ(cells[0].measuredGbps, 2000);
  EXPECT_DOUBLE_EQ(cells[0].predictedGbps, 2000);
  EXPECT_EQ(cells[1].fromMb, 20);
  EXPECT_DOUBLE_EQ(cells[1].error(), 0);
}

TEST(BandwidthRamp, NothingOfTablesWithoutProducts) {
  ScoredRow row = rowOf(1, 6, 6, 6);
  row.row.kind = RowKind::moe;
  EXPECT_TRUE(bandwidthRamp(std::vector<ScoredRow>{row}).empty());
}

} // namespace
} // namespace kw
