// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/validation/AttentionTiles.h"

#include <algorithm>
#include <cassert>

namespace kw {
namespace {

std::int64_t stepColumnsOf(const LaunchPlan &launch) {
  const auto keys =
      std::find_if(launch.traffic.begin(), launch.traffic.end(),
                   [](const TileTraffic &traffic) { return traffic.operand == TileOperand::k; });
  assert(keys != launch.traffic.end() && "attention reads k");
  return std::max(1, keys->rows);
}

} // namespace

AttentionTiles::AttentionTiles(const Attention &op, const KernelPlan &plan)
    : op(op), mapping(plan.launches.front().mapping), workgroups(plan.launches.front().workgroups),
      tileRows(plan.launches.front().tileM), stepColumns(stepColumnsOf(plan.launches.front())),
      splitCount(mapping.tilesN / (op.b * op.hkv)),
      combineRows(plan.launches.size() > 1 ? plan.launches[1].tileM : 0) {
  assert(workgroups == mapping.tiles() && splitCount * op.b * op.hkv == mapping.tilesN);
}

AttentionTiles::Work AttentionTiles::workOf(std::uint64_t workgroup) const {
  const TileCoordinate tile = tileOf(mapping, static_cast<std::int64_t>(workgroup));
  return {{tile.n / splitCount, tile.m}, tile.n % splitCount};
}

void AttentionTiles::addBlocks(const Tile &tile, std::uint64_t workgroup,
                               std::vector<OutputBlock> &blocks) const {
  const std::int64_t group = op.group();
  const std::int64_t batch = tile.first / op.hkv;
  const std::int64_t head = tile.first % op.hkv * group;
  const std::int64_t first = tile.second * tileRows;
  const std::int64_t last = std::min(first + tileRows, op.packedRows());
  OutputBlock block;
  block.workgroup = workgroup;
  const bool byHead = op.layout == AttentionLayout::bhsd;
  // Packed row r is query r / group of head r mod group.
  for (std::int64_t h = 0; h < group; ++h) {
    const std::int64_t begin = (std::max<std::int64_t>(first - h, 0) + group - 1) / group;
    const std::int64_t end = last > h ? (last - h + group - 1) / group : 0;
    if (begin >= end) {
      continue;
    }
    if (op.lse) {
      blocks.push_back({"lse", workgroup, batch, head + h, begin, 1, end - begin});
    }
    if (byHead) {
      blocks.push_back({"o", workgroup, batch * op.hq + head + h, begin, 0, end - begin, op.dv});
    }
  }
  for (std::int64_t s = first / group; !byHead && s * group < last; ++s) {
    const std::int64_t begin = std::max(first - s * group, std::int64_t{0});
    const std::int64_t end = std::min(last - s * group, group);
    blocks.push_back({"o", workgroup, batch * op.sq + s, head + begin, 0, end - begin, op.dv});
  }
}

std::vector<OutputBlock> AttentionTiles::blocksOf(std::uint64_t workgroup) const {
  std::vector<OutputBlock> blocks;
  const Work work = workOf(workgroup);
  if (work.split == 0) {
    addBlocks(work.tile, workgroup, blocks);
  }
  return blocks;
}

std::vector<AttentionQuery> AttentionTiles::queriesOf(std::uint64_t workgroup) const {
  const Tile tile = workOf(workgroup).tile;
  const std::int64_t head = tile.first % op.hkv * op.group();
  const std::int64_t first = tile.second * tileRows;
  std::vector<AttentionQuery> queries;
  for (std::int64_t r = first; r < std::min(first + tileRows, op.packedRows()); ++r) {
    queries.push_back({head + r % op.group(), r / op.group()});
  }
  return queries;
}

std::int64_t AttentionTiles::tileNumber(std::uint64_t workgroup) const {
  const Tile tile = workOf(workgroup).tile;
  return tile.first * mapping.tilesM + tile.second;
}

AttentionBlock AttentionTiles::part(const OutputBlock &block) const {
  if (block.tensor == "lse") {
    return {block.batch, block.row, block.col, block.rows, block.cols};
  }
  return op.layout == AttentionLayout::bhsd
             ? AttentionBlock{block.batch / op.hq, block.batch % op.hq, block.row, 1, block.rows}
             : AttentionBlock{block.batch / op.sq, block.row, block.batch % op.sq, block.rows, 1};
}

void AttentionTiles::addCombining(const Tile &tile, std::set<std::uint64_t> &ids) const {
  const std::int64_t base = tile.first * op.packedRows();
  const std::int64_t first = base + tile.second * tileRows;
  const std::int64_t last = base + std::min((tile.second + 1) * tileRows, op.packedRows());
  for (std::int64_t id = first / combineRows; id * combineRows < last; ++id) {
    ids.insert(static_cast<std::uint64_t>(id));
  }
}

void AttentionTiles::addTilesOf(std::uint64_t combining, std::set<Tile> &wanted) const {
  const std::int64_t first = static_cast<std::int64_t>(combining) * combineRows;
  const std::int64_t all = op.b * op.hkv * op.packedRows();
  for (std::int64_t row = first; row < std::min(first + combineRows, all); ++row) {
    wanted.insert({row / op.packedRows(), row % op.packedRows() / tileRows});
  }
}

std::vector<std::vector<std::uint64_t>>
AttentionTiles::needed(const std::vector<std::uint64_t> &wanted) const {
  std::set<Tile> tiles;
  for (const std::uint64_t workgroup : wanted) {
    tiles.insert(workOf(workgroup).tile);
  }
  std::set<std::uint64_t> combining;
  // A combining workgroup may write rows of several tiles, which must then be whole as well.
  for (std::size_t before = 0; combineRows > 0 && before != tiles.size();) {
    before = tiles.size();
    for (const Tile &tile : tiles) {
      addCombining(tile, combining);
    }
    for (const std::uint64_t id : combining) {
      addTilesOf(id, tiles);
    }
  }
  std::vector<std::vector<std::uint64_t>> ids(combineRows > 0 ? 2 : 1);
  for (std::int64_t id = 0; id < workgroups; ++id) {
    if (tiles.contains(workOf(static_cast<std::uint64_t>(id)).tile)) {
      ids.front().push_back(static_cast<std::uint64_t>(id));
    }
  }
  if (combineRows > 0) {
    ids.back().assign(combining.begin(), combining.end());
  }
  return ids;
}

} // namespace kw
