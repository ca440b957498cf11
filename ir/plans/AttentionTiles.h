// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which steps of columns the tiles of query rows see, exactly, for every mask. The columns that a
// query sees are one range [begin, end), both ends of which only rise with the query; so the steps
// that a tile visits are those from its first query's begin to its last query's end, and all of its
// rows see the columns from its last query's begin to its first query's end.
//
//   visited  steps with a column that some row sees; the others are skipped
//   whole    of them, those whose columns all rows see; the rest (diagonal) are masked
#pragma once

#include "ir/ops/Attention.h"

namespace kw {

struct ColumnRange {
  std::int64_t begin = 0, end = 0;
  bool operator==(const ColumnRange &) const = default;
};
/// Of query `query` (from 0) of a sequence, cut to its columns.
ColumnRange visibleColumns(const Attention &op, const SequenceLength &sequence, std::int64_t query);

struct VisibleSteps {
  std::int64_t visited = 0, whole = 0;
  bool operator==(const VisibleSteps &) const = default;

  VisibleSteps &operator+=(const VisibleSteps &other) {
    visited += other.visited;
    whole += other.whole;
    return *this;
  }
  VisibleSteps operator*(std::int64_t times) const { return {times * visited, times * whole}; }
};
/// Of row tile `tile` of `rows` packed rows, in steps of `columns` columns.
VisibleSteps stepsOfTile(const Attention &op, const SequenceLength &sequence, std::int64_t rows,
                         std::int64_t columns, std::int64_t tile);

/// Of several row tiles.
struct TileSteps {
  VisibleSteps sum;
  VisibleSteps longest; ///< of the tile that visits the most steps
};
/// Of the row tiles [0, tiles) of a sequence. Where both ends of the ranges move evenly, the sums
/// of equal runs of tiles do too: two of them tell all.
TileSteps stepsOfTiles(const Attention &op, const SequenceLength &sequence, std::int64_t rows,
                       std::int64_t columns, std::int64_t tiles);

} // namespace kw
