// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/WorkgroupMapping.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <vector>

namespace kw {
namespace {

using testing::ElementsAre;

TEST(WorkgroupMapping, XcdsOwnContiguousRanges) {
  // 10 workgroups on 4 XCDs: XCDs 0 and 1 own three positions, 2 and 3 two.
  std::vector<std::int64_t> positions;
  for (int id = 0; id < 10; ++id) {
    positions.push_back(remapXcd(id, 10, 4));
  }
  EXPECT_THAT(positions, ElementsAre(0, 3, 6, 8, 1, 4, 7, 9, 2, 5));
}

TEST(WorkgroupMapping, OneXcdIsIdentity) {
  for (int id = 0; id < 7; ++id) {
    EXPECT_EQ(remapXcd(id, 7, 1), id);
  }
}

TEST(WorkgroupMapping, RowMajorWithoutGroups) {
  EXPECT_EQ(groupedTile(0, 3, 4, 0), (TileCoordinate{0, 0}));
  EXPECT_EQ(groupedTile(1, 3, 4, 0), (TileCoordinate{0, 1}));
  EXPECT_EQ(groupedTile(4, 3, 4, 0), (TileCoordinate{1, 0}));
}

TEST(WorkgroupMapping, GroupsAreWalkedColumnByColumn) {
  // 5 x 3 tiles in groups of 2 rows: the last group has one row.
  std::vector<std::int64_t> rows, columns;
  for (int position = 0; position < 15; ++position) {
    const TileCoordinate tile = groupedTile(position, 5, 3, 2);
    rows.push_back(tile.m);
    columns.push_back(tile.n);
  }
  EXPECT_THAT(rows, ElementsAre(0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 4, 4, 4));
  EXPECT_THAT(columns, ElementsAre(0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 0, 1, 2));
}

TEST(WorkgroupMapping, EveryTileHasEverySplitOnce) {
  for (const int xcds : {1, 8}) {
    for (const int splits : {1, 3, 8}) {
      const WorkgroupMapping mapping{3, 5, 1, xcds, 2, 0, splits};
      std::vector<int> seen(mapping.workgroups(), 0);
      for (int id = 0; id < mapping.workgroups(); ++id) {
        const TileCoordinate tile = tileOf(mapping, id);
        ++seen[(tile.m * 5 + tile.n) * splits + splitOf(mapping, id)];
      }
      EXPECT_THAT(seen, testing::Each(1));
    }
  }
  // Without a remap neighbours share a tile.
  EXPECT_EQ(tileOf({2, 2, 1, 1, 0, 0, 4}, 3), (TileCoordinate{0, 0}));
  EXPECT_EQ(splitOf({2, 2, 1, 1, 0, 0, 4}, 6), 2);
}

TEST(WorkgroupMapping, IsABijectionOnEveryGrid) {
  for (const int xcds : {1, 8}) {
    for (const int groupM : {0, 1, 4, 7, 8, 64}) {
      for (int tilesM = 1; tilesM <= 40; ++tilesM) {
        for (int tilesN = 1; tilesN <= 40; ++tilesN) {
          const WorkgroupMapping mapping{tilesM, tilesN, 1, xcds, groupM};
          std::vector<int> seen(tilesM * tilesN, 0);
          for (int id = 0; id < tilesM * tilesN; ++id) {
            const TileCoordinate tile = tileOf(mapping, id);
            ASSERT_TRUE(tile.m >= 0 && tile.m < tilesM && tile.n >= 0 && tile.n < tilesN);
            ++seen[tile.m * tilesN + tile.n];
          }
          ASSERT_THAT(seen, testing::Each(1))
              << tilesM << "x" << tilesN << " xcds " << xcds << " group " << groupM;
        }
      }
    }
  }
}

TEST(WorkgroupMapping, PersistentWorkgroupsTakeEveryTileOnce) {
  for (const int xcds : {1, 8}) {
    for (const int walkers : {1, 2, 7, 8, 16, 255, 256, 1024}) {
      for (int tilesM = 1; tilesM <= 33; tilesM += 2) {
        for (int tilesN = 1; tilesN <= 33; ++tilesN) {
          const WorkgroupMapping mapping{tilesM, tilesN, 1, xcds, 4, walkers};
          std::vector<int> seen(tilesM * tilesN, 0);
          ASSERT_EQ(mapping.workgroups(), std::min(walkers, tilesM * tilesN));
          for (std::int64_t w = 0; w < mapping.workgroups(); ++w) {
            const std::int64_t turns = turnsOf(mapping, w);
            ASSERT_GE(turns, 1);
            ASSERT_LE(turnsOf(mapping, 0) - turns, 1) << "shares differ by one tile at most";
            for (std::int64_t turn = 0; turn < turns; ++turn) {
              const TileCoordinate tile = tileOf(mapping, tileNumber(mapping, w, turn));
              ++seen[tile.m * tilesN + tile.n];
            }
          }
          ASSERT_THAT(seen, testing::Each(1))
              << tilesM << "x" << tilesN << " xcds " << xcds << " walkers " << walkers;
        }
      }
    }
  }
}

TEST(WorkgroupMapping, PersistentWorkgroupsStayOnTheirXcdsRange) {
  // 32 tiles, 8 workgroups on 4 XCDs: XCD x owns positions 8x .. 8x + 7 in every turn.
  const WorkgroupMapping mapping{1, 32, 1, 4, 0, 8};
  for (std::int64_t w = 0; w < 8; ++w) {
    for (std::int64_t turn = 0; turn < 4; ++turn) {
      EXPECT_EQ(tileOf(mapping, tileNumber(mapping, w, turn)).n / 8, w % 4);
    }
  }
}

} // namespace
} // namespace kw
