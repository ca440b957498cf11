// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/AttentionTiles.h"

#include "ir/Problem.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <random>

namespace kw {
namespace {

Attention parsed(const std::string &text) {
  const auto problem = parseProblem("attention " + text);
  EXPECT_TRUE(problem) << text << ": " << problem.error().message;
  return problem ? problem->attention() : Attention();
}

/// The definition, element by element.
bool sees(const Attention &op, const SequenceLength &length, std::int64_t query,
          std::int64_t column) {
  const std::int64_t position = length.columns - length.queries + query;
  const auto document = [&](std::int64_t at) {
    return std::ranges::upper_bound(op.documentEnds, at) - op.documentEnds.begin();
  };
  switch (op.mask) {
  case MaskKind::none:
    return true;
  case MaskKind::causal:
    return column <= position;
  case MaskKind::window:
    return column <= position && column > position - op.maskSize;
  case MaskKind::prefix:
    return column <= position || column < op.maskSize;
  case MaskKind::document:
    return position >= 0 && document(position) == document(column);
  }
  return false;
}

VisibleSteps byDefinition(const Attention &op, const SequenceLength &length, std::int64_t rows,
                          std::int64_t columns, std::int64_t tile) {
  VisibleSteps steps;
  for (std::int64_t first = 0; first < length.columns; first += columns) {
    bool any = false, all = first + columns <= length.columns;
    for (std::int64_t row = tile * rows; row < (tile + 1) * rows; ++row) {
      const std::int64_t query = row / op.group();
      for (std::int64_t c = first; query < length.queries && c < first + columns; ++c) {
        const bool seen = c < length.columns && sees(op, length, query, c);
        any |= seen;
        all &= seen;
      }
    }
    steps.visited += any ? 1 : 0;
    steps.whole += any && all ? 1 : 0;
  }
  return steps;
}

/// Four queries of a head, sixteen columns, causal: query s sees 13 + s columns. Tiles of two rows
/// and steps of four columns.
TEST(AttentionTiles, WorkedOutByHand) {
  const Attention op = parsed("b=1 hq=1 hkv=1 sq=4 skv=16 d=64 mask=causal");
  const SequenceLength length = op.lengths.front();
  EXPECT_EQ(visibleColumns(op, length, 0), (ColumnRange{0, 13}));
  EXPECT_EQ(stepsOfTile(op, length, 2, 4, 0), (VisibleSteps{4, 3}));
  EXPECT_EQ(stepsOfTile(op, length, 2, 4, 1), (VisibleSteps{4, 3}));
  EXPECT_EQ(stepsOfTiles(op, length, 2, 4, 2).sum, (VisibleSteps{8, 6}));
  // A window of six leaves out the first step or two.
  const Attention window = parsed("b=1 hq=1 hkv=1 sq=4 skv=16 d=64 mask=window:6");
  EXPECT_EQ(visibleColumns(window, length, 0), (ColumnRange{7, 13}));
  EXPECT_EQ(stepsOfTile(window, length, 2, 4, 0), (VisibleSteps{3, 1}));
  EXPECT_EQ(stepsOfTile(window, length, 2, 4, 1), (VisibleSteps{2, 0}));
}

/// A square triangle: half of the steps are skipped, one a tile is masked.
TEST(AttentionTiles, ASquareTriangle) {
  const Attention op = parsed("b=1 hq=8 hkv=8 sq=4096 skv=4096 d=128 mask=causal");
  const auto [sum, longest] = stepsOfTiles(op, op.lengths.front(), 128, 64, 32);
  EXPECT_EQ(sum.visited, 2 * 32 * 33 / 2);
  EXPECT_EQ(sum.visited - sum.whole, 2 * 32);
  EXPECT_EQ(longest, (VisibleSteps{64, 62}));
}

TEST(AttentionTiles, EveryMaskCountsAsDefined) {
  std::mt19937 random(3);
  const auto number = [&](int low, int high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  for (int round = 0; round < 600; ++round) {
    const int sq = number(1, 60), skv = number(1, 60), group = number(1, 5);
    const std::string size = std::to_string(number(1, 40));
    const std::string masks[] = {"none", "causal", "window:" + size, "prefix:" + size,
                                 "document:x"};
    Attention op = parsed("b=1 hq=" + std::to_string(group) + " hkv=1 sq=" + std::to_string(sq) +
                          " skv=" + std::to_string(skv) + " d=64 mask=" + masks[round % 5]);
    for (int end = number(1, 20); end < skv; end += number(1, 20)) {
      op.documentEnds.push_back(end);
    }
    op.documentEnds.push_back(skv);
    const SequenceLength length{number(1, sq), number(1, skv), 1};
    const std::int64_t rows = number(1, 24), columns = number(1, 24);
    // Sums are asked for whole tiles.
    const std::int64_t full = length.queries * group / rows;
    VisibleSteps sum;
    std::int64_t longest = 0;
    for (std::int64_t tile = 0; tile * rows < length.queries * group; ++tile) {
      const VisibleSteps expected = byDefinition(op, length, rows, columns, tile);
      ASSERT_EQ(stepsOfTile(op, length, rows, columns, tile), expected)
          << print(Problem{op}) << " queries " << length.queries << " columns " << length.columns
          << " tile " << tile << " of " << rows << "x" << columns;
      sum.visited += tile < full ? expected.visited : 0;
      sum.whole += tile < full ? expected.whole : 0;
      longest = tile < full ? std::max(longest, expected.visited) : longest;
    }
    const TileSteps steps = stepsOfTiles(op, length, rows, columns, full);
    ASSERT_EQ(steps.sum, sum) << print(Problem{op});
    ASSERT_EQ(steps.longest.visited, longest) << print(Problem{op});
  }
}

/// Long sequences, whose sums are not added tile by tile.
TEST(AttentionTiles, SumsOfManyTilesAreThoseOfEach) {
  for (const char *mask :
       {"causal", "window:100", "window:5000", "prefix:777", "none", "document:x"}) {
    for (const auto &[sq, skv] :
         {std::pair(9000, 9000), std::pair(3000, 9000), std::pair(9000, 3000)}) {
      Attention op = parsed("b=1 hq=6 hkv=2 sq=" + std::to_string(sq) +
                            " skv=" + std::to_string(skv) + " d=64 mask=" + mask);
      op.documentEnds = {5, 1500, 1600, skv};
      for (const auto &[rows, columns] :
           {std::pair(64, 32), std::pair(128, 96), std::pair(16, 512)}) {
        const std::int64_t tiles = 3 * sq / rows;
        TileSteps expected;
        for (std::int64_t tile = 0; tile < tiles; ++tile) {
          const VisibleSteps each = stepsOfTile(op, op.lengths.front(), rows, columns, tile);
          expected.sum += each;
          expected.longest.visited = std::max(expected.longest.visited, each.visited);
        }
        const TileSteps steps = stepsOfTiles(op, op.lengths.front(), rows, columns, tiles);
        const std::string what = std::string(mask) + " " + std::to_string(sq) + " " +
                                 std::to_string(rows) + "x" + std::to_string(columns);
        EXPECT_EQ(steps.sum, expected.sum) << what;
        EXPECT_EQ(steps.longest.visited, expected.longest.visited) << what;
      }
    }
  }
}

} // namespace
} // namespace kw
