// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/TileEfficiency.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

TextTable tableOf(const std::string &rows) {
  return *TextTable::parse(
      "dtype,tile_m,tile_n,tile_k,waves,workgroups,K,measured_mfma_eff_pct\n" + rows, "t.csv");
}

const Target &gfx950() { return **findTarget("gfx950"); }

TEST(TileEfficiency, SmallTilesStarveTheirPipes) {
  const TextTable table = tableOf("f16,256,256,64,4,256,2048,90\nf16,128,128,64,4,256,2048,70\n"
                                  "f16,64,64,64,4,256,2048,35\n");
  ASSERT_TRUE(isTileEfficiencyTable(table));
  const auto rows = tileEfficiencies(table, gfx950());
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 3u);
  for (const TileEfficiency &row : *rows) {
    EXPECT_GT(row.predicted, 0.2);
    EXPECT_LE(row.predicted, 1);
    EXPECT_NE(row.schedule.find("gemm.1:"), std::string::npos);
  }
  EXPECT_GT((*rows)[0].predicted, (*rows)[1].predicted);
  EXPECT_GT((*rows)[1].predicted, (*rows)[2].predicted);
  // Little's law: 44 KiB in flight for 1,000 clocks; half a tile's side is half the efficiency.
  EXPECT_NEAR((*rows)[1].predicted / (*rows)[2].predicted, 2, 0.2);
}

TEST(TileEfficiency, PowerAndColdOperandsDoNotCount) {
  const TextTable table = tableOf("f16,256,256,64,4,256,2048,90\n");
  Target other = gfx950();
  other.hbmBytesPerSecond /= 4;
  other.sustainedFraction16 /= 2;
  other.hbmLatencyCycles *= 2;
  EXPECT_EQ((*tileEfficiencies(table, gfx950()))[0].predicted,
            (*tileEfficiencies(table, other))[0].predicted);
}

TEST(TileEfficiency, MeanPointsCountsATileWithoutASchedule) {
  const auto rows = tileEfficiencies(tableOf("f16,48,256,64,3,256,2048,30\n"), gfx950());
  ASSERT_TRUE(rows);
  EXPECT_EQ(meanPoints(*rows), std::abs(rows->front().predicted - 0.30));
}

TEST(TileEfficiency, RefusesByRowAndColumn) {
  const auto rows =
      tileEfficiencies(tableOf("f16,64,64,64,4,256,2048,35\nf16,64,,64,4,256,2048,35\n"), gfx950());
  ASSERT_FALSE(rows);
  EXPECT_NE(rows.error().message.find("row 2: tile_n="), std::string::npos);
  const auto type = tileEfficiencies(tableOf("f99,64,64,64,4,256,2048,35\n"), gfx950());
  ASSERT_FALSE(type);
  EXPECT_NE(type.error().message.find("f99"), std::string::npos);
  EXPECT_FALSE(isTileEfficiencyTable(*TextTable::parse("tile_m\n1\n", "t.csv")));
}

} // namespace
} // namespace kw
