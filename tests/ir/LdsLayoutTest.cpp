// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/LdsLayout.h"

#include <array>
#include <gtest/gtest.h>
#include <set>

namespace kw {
namespace {

const Target &gfx950() { return **findTarget("gfx950"); }

TileLayout layoutOf(LdsLayout layout, OperandPath path, int rows, int rowBytes,
                    bool rowsAlongK = false) {
  TileLayout tile;
  tile.layout = layout;
  tile.path = path;
  tile.rows = rows;
  tile.rowBytes = rowBytes;
  tile.rowsAlongK = rowsAlongK;
  return tile;
}

constexpr std::array allLayouts{LdsLayout::plain, LdsLayout::swizzle, LdsLayout::padding};

TEST(LdsLayout, AddressesAreDistinctAndWithinTheStage) {
  for (const LdsLayout layout : allLayouts) {
    for (const OperandPath path : {OperandPath::lds, OperandPath::direct}) {
      for (const bool rowsAlongK : {false, true}) {
        for (const int rowBytes : {32, 64, 96, 128, 160, 192, 256, 384, 512}) {
          const TileLayout tile = layoutOf(layout, path, 48, rowBytes, rowsAlongK);
          std::set<std::int64_t> seen;
          for (int row = 0; row < tile.rows; ++row) {
            for (int byte = 0; byte < rowBytes; byte += 2) {
              const std::int64_t address = tile.address(row, byte);
              ASSERT_TRUE(address >= 0 && address < tile.bytes());
              ASSERT_TRUE(seen.insert(address).second) << row << " " << byte;
            }
          }
        }
      }
    }
  }
}

TEST(LdsLayout, GranulesStayWhole) {
  for (const LdsLayout layout : allLayouts) {
    const TileLayout tile = layoutOf(layout, OperandPath::direct, 64, 128);
    for (int row = 0; row < tile.rows; ++row) {
      for (int byte = 0; byte < 128; ++byte) {
        EXPECT_EQ(tile.address(row, byte), tile.address(row, byte / 16 * 16) + byte % 16);
      }
      EXPECT_EQ(tile.address(row, 16) % 16, 0);
    }
  }
}

TEST(LdsLayout, PaddingByPath) {
  const TileLayout rows = layoutOf(LdsLayout::padding, OperandPath::lds, 4, 128);
  EXPECT_EQ(rows.address(3, 20), 3 * 144 + 20);
  EXPECT_EQ(rows.bytes(), 4 * 144);
  const TileLayout chunks = layoutOf(LdsLayout::padding, OperandPath::direct, 20, 128);
  EXPECT_EQ(chunks.address(7, 127), 7 * 128 + 127);
  EXPECT_EQ(chunks.address(8, 0), 1024 + 16);
  EXPECT_EQ(chunks.bytes(), 20 * 128 + 2 * 16);
}

void checkSwizzle(const TileLayout &tile) {
  constexpr int period = 32;
  for (int row = 0; row < period; ++row) {
    const int mask = tile.granuleMask(row);
    EXPECT_EQ(tile.granuleMask(row + 3 * period), mask);
    EXPECT_TRUE(mask >= 0 && mask * 16 < (tile.rowBytes & -tile.rowBytes));
    for (int other = 0; other < period; ++other) {
      EXPECT_EQ(tile.granuleMask(row ^ other), mask ^ tile.granuleMask(other));
    }
    if (tile.rowsAlongK && tile.elementBytes < 4) {
      EXPECT_EQ(mask * 16 % (16 * tile.elementBytes), 0) << "16 elements stay together";
    }
  }
}

TEST(LdsLayout, SwizzleIsLinearWithinARowAndPeriodic) {
  for (const bool rowsAlongK : {false, true}) {
    for (const int elementBytes : {1, 2, 4}) {
      for (const int rowBytes : {32, 64, 96, 128, 192, 256, 512}) {
        TileLayout tile = layoutOf(LdsLayout::swizzle, OperandPath::lds, 256, rowBytes, rowsAlongK);
        tile.elementBytes = elementBytes;
        checkSwizzle(tile);
      }
    }
  }
}

TEST(LdsLayout, CountsConflictsAsTheBankSolverDoes) { // gfx950.md 3.2
  std::array<std::int64_t, 64> address{};
  const auto clocks = [&](int bytes, std::int64_t stride) {
    for (int lane = 0; lane < 64; ++lane) {
      address[lane] = lane * stride;
    }
    return ldsCycles(gfx950(), bytes, false, address);
  };
  // ds_read_b64 by stride: measured about 9, 13, 23, 43, 80, 157 clocks for one.
  EXPECT_EQ(clocks(8, 8), 2);
  EXPECT_EQ(clocks(8, 16), 4);
  EXPECT_EQ(clocks(8, 32), 8);
  EXPECT_EQ(clocks(8, 64), 16);
  EXPECT_EQ(clocks(8, 128), 32);
  EXPECT_EQ(clocks(8, 256), 64);
  EXPECT_EQ(clocks(16, 16), 4);
  EXPECT_EQ(clocks(4, 4), 1);
  EXPECT_EQ(clocks(4, 256), 64);
  // Broadcast is free.
  EXPECT_EQ(clocks(4, 0), 1);
}

TEST(LdsLayout, WritesUseTheNarrowPort) {
  std::array<std::int64_t, 64> address{};
  for (int lane = 0; lane < 64; ++lane) {
    address[lane] = lane * 16;
  }
  EXPECT_EQ(ldsCycles(gfx950(), 16, true, address), 8);
}

TEST(LdsLayout, WidthsOutsideTheTableAreServedAtPortWidth) {
  std::array<std::int64_t, 64> address{};
  for (int lane = 0; lane < 64; ++lane) {
    address[lane] = lane * 2;
  }
  EXPECT_EQ(ldsCycles(gfx950(), 2, true, address), 1);
}

} // namespace
} // namespace kw
