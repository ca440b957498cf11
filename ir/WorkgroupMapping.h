// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which workgroup does which output tile: XCD remap, then grouped order. A bijection on every grid.
// Used by the cost model (reuse per XCD), by codegen (the same arithmetic in the kernel) and tests.
#pragma once

#include <cstdint>

namespace kw {

struct TileCoordinate {
  std::int64_t m = 0, n = 0;
  bool operator==(const TileCoordinate &) const = default;
};

/// Hardware gives workgroup `id` to XCD `id mod xcds`.
struct WorkgroupMapping {
  std::int64_t tilesM = 1, tilesN = 1, batches = 1;
  int xcds = 1;          ///< 1: no remap
  int groupM = 0;        ///< 0: row-major (n fastest)

  std::int64_t tiles() const { return tilesM * tilesN; }
  bool operator==(const WorkgroupMapping &) const = default;
};

/// Position in tile order of workgroup `id`. XCD x = id mod xcds owns a contiguous range of
/// positions; with count = total / xcds and rest = total mod xcds the first `rest` XCDs own count+1.
std::int64_t remapXcd(std::int64_t id, std::int64_t total, int xcds);

/// Tile at a position: groups of `groupM` rows are walked column by column (m fastest), the last
/// group may have fewer rows.
TileCoordinate groupedTile(std::int64_t position, std::int64_t tilesM, std::int64_t tilesN,
                           int groupM);

/// Both: the tile of workgroup `id` within a batch.
TileCoordinate tileOf(const WorkgroupMapping &mapping, std::int64_t id);

} // namespace kw
