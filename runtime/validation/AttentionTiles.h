// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which workgroups of an attention's plan contribute to which elements of o and lse.
#pragma once

#include "ir/KernelPlan.h"
#include "runtime/reference/Attention.h"
#include "runtime/validation/Oracle.h"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace kw {

class AttentionTiles {
public:
  AttentionTiles(const Attention &op, const KernelPlan &plan);

  std::int64_t splits() const { return splitCount; }
  std::int64_t rowsPerTile() const { return tileRows; }
  /// Columns of k and v that a workgroup takes in one step.
  std::int64_t columnsPerStep() const { return stepColumns; }

  /// Blocks of a workgroup's tile of rows, all of them from its first split.
  std::vector<OutputBlock> blocksOf(std::uint64_t workgroup) const;
  /// See Oracle::needed.
  std::vector<std::vector<std::uint64_t>>
  needed(const std::vector<std::uint64_t> &workgroups) const;
  /// The rows of a block of o or lse.
  AttentionBlock part(const OutputBlock &block) const;
  /// All queries of a workgroup's tile, in the order of its packed rows; the tile, as a number.
  std::vector<AttentionQuery> queriesOf(std::uint64_t workgroup) const;
  std::int64_t tileNumber(std::uint64_t workgroup) const;

private:
  /// Batch entry and head of k and v, counted together; tile of its packed rows.
  using Tile = std::pair<std::int64_t, std::int64_t>;
  struct Work {
    Tile tile;
    std::int64_t split = 0;
  };
  Work workOf(std::uint64_t workgroup) const;
  void addBlocks(const Tile &tile, std::uint64_t workgroup, std::vector<OutputBlock> &blocks) const;
  /// Workgroups of the combining launch that write rows of a tile, and tiles whose rows it writes.
  void addCombining(const Tile &tile, std::set<std::uint64_t> &ids) const;
  void addTilesOf(std::uint64_t combining, std::set<Tile> &wanted) const;

  Attention op;
  WorkgroupMapping mapping;
  std::int64_t workgroups, tileRows, stepColumns, splitCount, combineRows;
};

} // namespace kw
