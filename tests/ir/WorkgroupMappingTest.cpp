// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/WorkgroupMapping.h"

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

} // namespace
} // namespace kw
