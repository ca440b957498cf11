// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/StreamShares.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <random>

namespace kw {
namespace {

using testing::Each;
using testing::ElementsAre;
using Part = StreamShares::Part;

WorkgroupMapping streamOf(std::int64_t tilesM, std::int64_t tilesN, std::int64_t batches, int xcds,
                          int groupM, std::int64_t walkers, std::int64_t steps) {
  return {tilesM, tilesN, batches, xcds, groupM, walkers, 1, steps};
}

TEST(StreamShares, WorkedOutByHand) {
  // 5 tiles of 4 steps for 3 workgroups: 7, 7 and 6 steps.
  const StreamShares shares(streamOf(1, 5, 1, 1, 0, 3, 4));
  EXPECT_EQ(shares.longest(), 7);
  EXPECT_THAT(shares.partsOf(0), ElementsAre(Part{0, 0, 4}, Part{1, 0, 3}));
  EXPECT_THAT(shares.partsOf(1), ElementsAre(Part{1, 3, 1}, Part{2, 0, 4}, Part{3, 0, 2}));
  EXPECT_THAT(shares.partsOf(2), ElementsAre(Part{3, 2, 2}, Part{4, 0, 4}));
  EXPECT_EQ(shares.ownersOf(3).first, 1);
  EXPECT_EQ(shares.ownersOf(3).last, 2);
  const StreamCounts counts = streamCounts(streamOf(1, 5, 1, 1, 0, 3, 4));
  EXPECT_EQ(counts.pieces, 7);
  EXPECT_EQ(counts.wholeTiles, 3);
  EXPECT_EQ(counts.splitTiles, 2);
}

/// Random grids: every step of every tile once, in shares that differ by one at most; owners, slots
/// and counts as enumerated.
TEST(StreamShares, EveryStepOnce) {
  std::mt19937 random(5);
  const auto below = [&](int most) { return static_cast<int>(random() % most); };
  for (int trial = 0; trial < 4000; ++trial) {
    const int xcds = trial % 3 == 0 ? 8 : 1;
    const WorkgroupMapping mapping =
        streamOf(1 + below(9), 1 + below(9), 1 + below(3), xcds, below(5),
                 1 + below(trial % 2 == 0 ? 12 : 300), 1 + below(trial % 4 == 0 ? 4 : 40));
    const StreamShares shares(mapping);
    const std::int64_t steps = mapping.sharedSteps;
    ASSERT_EQ(shares.workgroups(), std::min(mapping.walkers, shares.places() * steps));
    std::vector<int> positions(shares.workgroups(), 0), done(shares.places() * steps, 0);
    std::vector<int> tilesSeen(shares.places(), 0), partsOf(shares.places(), 0);
    std::int64_t pieces = 0;
    for (std::int64_t id = 0; id < shares.workgroups(); ++id) {
      const std::int64_t position = shares.positionOf(id);
      ++positions[position];
      const std::int64_t share = shares.begin(position + 1) - shares.begin(position);
      ASSERT_TRUE(share >= 1 && share <= shares.longest() && share + 1 >= shares.longest());
      int begun = 0, ended = 0;
      for (const Part &part : shares.partsOf(position)) {
        ++pieces;
        ++partsOf[part.place];
        for (std::int64_t step = 0; step < part.steps; ++step) {
          const std::int64_t ofLine = part.place * steps + part.firstStep + step;
          ++done[ofLine];
          ASSERT_EQ(shares.ownerOf(ofLine), position);
        }
        const StreamShares::Owners owners = shares.ownersOf(part.place);
        ASSERT_TRUE(owners.first <= position && position <= owners.last);
        ASSERT_EQ(part.firstStep == 0, owners.first == position);
        // At most one part for either slot of the workspace.
        ended += part.firstStep > 0 ? 1 : 0;
        begun += part.firstStep == 0 && part.steps < steps ? 1 : 0;
      }
      ASSERT_LE(begun, 1);
      ASSERT_LE(ended, 1);
    }
    ASSERT_THAT(positions, Each(1));
    ASSERT_THAT(done, Each(1));
    std::int64_t whole = 0;
    for (std::int64_t place = 0; place < shares.places(); ++place) {
      const TileCoordinate tile = shares.tileAt(place);
      ++tilesSeen[(shares.batchOf(place) * mapping.tilesM + tile.m) * mapping.tilesN + tile.n];
      const StreamShares::Owners owners = shares.ownersOf(place);
      ASSERT_EQ(owners.last - owners.first + 1, partsOf[place]);
      whole += partsOf[place] == 1 ? 1 : 0;
    }
    ASSERT_THAT(tilesSeen, Each(1));
    const StreamCounts counts = streamCounts(mapping);
    ASSERT_EQ(counts.pieces, pieces);
    ASSERT_EQ(counts.wholeTiles, whole);
    ASSERT_EQ(counts.splitTiles, shares.places() - whole);
  }
}

} // namespace
} // namespace kw
