// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/AttentionTiles.h"

#include "ir/plans/Plans.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace kw {
namespace {

ColumnRange documentOf(const Attention &op, std::int64_t position) {
  const auto end = std::ranges::upper_bound(op.documentEnds, position);
  if (position < 0 || end == op.documentEnds.end()) {
    return {};
  }
  return {end == op.documentEnds.begin() ? 0 : *(end - 1), *end};
}

class TileSums {
public:
  TileSums(const Attention &op, const SequenceLength &sequence, std::int64_t rows,
           std::int64_t columns)
      : op(op), sequence(sequence), rows(rows), columns(columns) {}

  /// Of what is not yet counted, the tiles below `last` one by one.
  void each(std::int64_t last) {
    for (; next < last; ++next) {
      add(stepsOfTile(op, sequence, rows, columns, next), 1);
    }
  }

  /// The tiles below `last`, all of which visit what the next one does.
  void equal(std::int64_t last) {
    if (next < last) {
      add(stepsOfTile(op, sequence, rows, columns, next), last - next);
      next = last;
    }
  }

  /// The tiles below `last`, in which nothing but the queries' positions changes.
  void even(std::int64_t last) {
    const std::int64_t step = op.group() * columns;
    const std::int64_t period = step / std::gcd(step, rows); // tiles that move by whole steps
    // The last run and what is left over are counted one by one: the longest tile is among them or
    // in the first.
    const std::int64_t runs = (last - next) / period - 1;
    if (runs > 2) {
      const VisibleSteps at = run(next, period), after = run(next + period, period);
      const std::int64_t pairs = runs * (runs - 1) / 2;
      const VisibleSteps rise{after.visited - at.visited, after.whole - at.whole};
      steps.sum += at * runs;
      steps.sum += rise * pairs;
      next += runs * period;
    }
    each(last);
  }

  TileSteps total() const { return steps; }

private:
  void add(const VisibleSteps &of, std::int64_t times) {
    steps.sum += of * times;
    if (of.visited > steps.longest.visited) {
      steps.longest = of;
    }
  }

  VisibleSteps run(std::int64_t first, std::int64_t count) {
    TileSums part(op, sequence, rows, columns);
    part.next = first;
    part.each(first + count);
    if (part.steps.longest.visited > steps.longest.visited) {
      steps.longest = part.steps.longest;
    }
    return part.steps.sum;
  }

  const Attention &op;
  const SequenceLength &sequence;
  std::int64_t rows, columns;
  std::int64_t next = 0; ///< first tile that isn't counted
  TileSteps steps;
};

/// Tiles within one document are alike, and so are those in front of all columns.
void addDocuments(const Attention &op, const SequenceLength &sequence, std::int64_t rows,
                  std::int64_t tiles, TileSums &sums) {
  const std::int64_t offset = sequence.columns - sequence.queries, group = op.group();
  sums.equal(std::min(tiles, std::max<std::int64_t>(0, -offset * group / rows)));
  std::int64_t begin = 0;
  for (const std::int64_t end : op.documentEnds) {
    const std::int64_t firstRow = std::max<std::int64_t>(0, (begin - offset) * group);
    const std::int64_t lastRow = std::max<std::int64_t>(0, (end - offset) * group);
    const std::int64_t first = ceilDiv(firstRow, rows), last = std::min(tiles, lastRow / rows);
    if (first < last) {
      sums.each(first);
      sums.equal(last);
    }
    begin = end;
  }
  sums.each(tiles);
}

/// Queries from which on the ranges move in another way: the first that sees anything, the first
/// whose window begins behind column 0 or that sees more than the prefix.
std::array<std::int64_t, 2> turns(const Attention &op, const SequenceLength &sequence) {
  const std::int64_t offset = sequence.columns - sequence.queries;
  const bool sized = op.mask == MaskKind::window || op.mask == MaskKind::prefix;
  std::array<std::int64_t, 2> queries{-offset, sized ? op.maskSize - offset - 1 : -offset};
  std::ranges::sort(queries);
  return queries;
}

} // namespace

ColumnRange visibleColumns(const Attention &op, const SequenceLength &sequence,
                           std::int64_t query) {
  const std::int64_t all = sequence.columns;
  const std::int64_t position = all - sequence.queries + query;
  const std::int64_t end = std::clamp<std::int64_t>(position + 1, 0, all);
  switch (op.mask) {
  case MaskKind::none:
    return {0, all};
  case MaskKind::causal:
    return {0, end};
  case MaskKind::window:
    return {std::clamp<std::int64_t>(position + 1 - op.maskSize, 0, end), end};
  case MaskKind::prefix:
    return {0, std::max(end, std::min(op.maskSize, all))};
  case MaskKind::document: {
    const ColumnRange range = documentOf(op, position);
    return {std::min(range.begin, all), std::min(range.end, all)};
  }
  }
  return {};
}

VisibleSteps stepsOfTile(const Attention &op, const SequenceLength &sequence, std::int64_t rows,
                         std::int64_t columns, std::int64_t tile) {
  const std::int64_t group = op.group(), lastQuery = sequence.queries - 1;
  const ColumnRange first = visibleColumns(op, sequence, std::min(lastQuery, tile * rows / group));
  const ColumnRange last =
      visibleColumns(op, sequence, std::min(lastQuery, (tile * rows + rows - 1) / group));
  if (last.end <= first.begin) {
    return {};
  }
  VisibleSteps steps;
  steps.visited = ceilDiv(last.end, columns) - first.begin / columns;
  steps.whole = std::max<std::int64_t>(0, first.end / columns - ceilDiv(last.begin, columns));
  return steps;
}

TileSteps stepsOfTiles(const Attention &op, const SequenceLength &sequence, std::int64_t rows,
                       std::int64_t columns, std::int64_t tiles) {
  TileSums sums(op, sequence, rows, columns);
  switch (op.mask) {
  case MaskKind::none:
    sums.equal(tiles);
    break;
  case MaskKind::document:
    addDocuments(op, sequence, rows, tiles, sums);
    break;
  default:
    for (const std::int64_t query : turns(op, sequence)) {
      // Tiles on both sides of a turn one by one.
      const std::int64_t around = std::clamp<std::int64_t>(query * op.group() / rows, 0, tiles);
      sums.even(around - 1);
      sums.each(std::min(tiles, around + 2));
    }
    sums.even(tiles);
  }
  return sums.total();
}

} // namespace kw
