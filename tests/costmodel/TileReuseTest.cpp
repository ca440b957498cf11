// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/TileReuse.h"

#include <gtest/gtest.h>

using namespace kw;

namespace {

WorkgroupMapping mapping(std::int64_t m, std::int64_t n, int xcds, int groupM) {
  WorkgroupMapping result;
  result.tilesM = m;
  result.tilesN = n;
  result.xcds = xcds;
  result.groupM = groupM;
  return result;
}

} // namespace

TEST(TileReuse, GroupOfEightRowsByFourColumns) {
  // 32 tiles of one XCD, remapped and grouped by 8: 8 rows x 4 columns = 12 fetches instead of 64.
  const SharedBytes bytes{100, 100, 0, 0};
  EXPECT_DOUBLE_EQ(bytesBeyondCache(mapping(16, 16, 8, 8), 8, 32, bytes), 100 * 12 / 32.0);
}

TEST(TileReuse, RoundRobinRowMajorSharesLess) {
  // Row-major without remap: an XCD sees every eighth tile, 2 columns of each of 16 rows.
  const SharedBytes bytes{100, 100, 0, 0};
  EXPECT_DOUBLE_EQ(bytesBeyondCache(mapping(16, 16, 1, 0), 8, 32, bytes), 100 * (16 + 2) / 32.0);
}

TEST(TileReuse, SharesAtTheSameStepShare) {
  // 8 tiles in a row of 4 steps for 16 workgroups: two a tile, at steps 0 and 2.
  WorkgroupMapping line = mapping(1, 8, 1, 0);
  line.walkers = 16;
  line.sharedSteps = 4;
  const SharedBytes bytes{100, 100, 0, 0};
  EXPECT_DOUBLE_EQ(bytesBeyondCache(line, 1, 16, bytes), 100 * (2 + 16) / 16.0);
  // For 7 none of the first four (steps 0, 1, 2, 3) is where another one is.
  line.walkers = 7;
  EXPECT_DOUBLE_EQ(bytesBeyondCache(line, 1, 4, bytes), 200);
  // 11 pieces of 32/11 steps: in step, the four would fetch 1 row and 4 columns a piece. A cache of
  // twice two such steps keeps pairs together, one of twice four all.
  const double aStep = (100 + 400) * 11 / 32.0;
  EXPECT_DOUBLE_EQ(bytesBeyondCache(line, 1, 4, bytes, 2 * 2 * aStep), (2 * 100 + 400) / 4.0);
  EXPECT_DOUBLE_EQ(bytesBeyondCache(line, 1, 4, bytes, 2 * 4 * aStep), (100 + 400) / 4.0);
}

TEST(TileReuse, OwnBytesAreNotShared) {
  const SharedBytes bytes{0, 0, 64, 320};
  // 320 bytes for all of 32 workgroups, 64 for each.
  EXPECT_DOUBLE_EQ(bytesBeyondCache(mapping(256, 1, 8, 0), 8, 32, bytes), 64 + 320 / 32.0);
}

TEST(TileReuse, LargerWindowsAreNeverWorse) {
  const SharedBytes bytes{100, 37, 5, 11};
  for (const int xcds : {1, 8}) {
    for (const int groupM : {0, 1, 3, 8}) {
      for (const auto &[m, n] : {std::pair{1, 57}, std::pair{13, 17}, std::pair{64, 64}}) {
        double previous = bytesBeyondCache(mapping(m, n, xcds, groupM), 8, 1, bytes);
        for (std::int64_t window = 2; window <= 80; ++window) {
          const double now = bytesBeyondCache(mapping(m, n, xcds, groupM), 8, window, bytes);
          EXPECT_LE(now, previous);
          previous = now;
        }
      }
    }
  }
}

TEST(TileReuse, MemoChangesNothing) {
  TileReuse reuse;
  for (int pass = 0; pass < 2; ++pass) {
    for (std::int64_t window = 1; window < 40; ++window) {
      for (const double byM : {10.0, 20.0}) {
        const SharedBytes bytes{byM, 30, 0, 0};
        EXPECT_EQ(reuse(mapping(9, 11, 8, 4), 8, window, bytes),
                  bytesBeyondCache(mapping(9, 11, 8, 4), 8, window, bytes));
      }
    }
  }
}
