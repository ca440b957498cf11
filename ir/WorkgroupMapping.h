// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which workgroup does which output tiles: XCD remap, then grouped order. A bijection on every
// grid. Used by the cost model (reuse per XCD), by codegen (the same arithmetic in the kernel), by
// the validator (which workgroups wrote a tile) and tests.
//
// A tile's number is what a grid of one workgroup a tile would call it by; a persistent workgroup
// takes every `walkers`-th of them, so that all that are resident work on neighbours at any time.
// Of a stream-K grid ir/StreamShares.h says who does what.
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
  int xcds = 1;   ///< 1: no remap
  int groupM = 0; ///< 0: row-major (n fastest)
  /// Persistent workgroups of a batch, each for every `walkers`-th piece; 0: a workgroup a piece.
  std::int64_t walkers = 0;
  int splits = 1; ///< pieces of a tile, along k, neighbours in tile order
  /// Stream-K: K steps of a tile. The walkers share those of all tiles of all batches evenly. 0:
  /// no.
  std::int64_t sharedSteps = 0;

  std::int64_t tiles() const { return tilesM * tilesN; }
  std::int64_t pieces() const { return tiles() * splits; }
  bool isStream() const { return sharedSteps > 0; }
  /// Of a batch; of a stream-K grid all.
  std::int64_t workgroups() const {
    const std::int64_t most = isStream() ? tiles() * batches * sharedSteps : pieces();
    return walkers > 0 && walkers < most ? walkers : most;
  }
  std::int64_t allWorkgroups() const { return isStream() ? workgroups() : workgroups() * batches; }
  bool operator==(const WorkgroupMapping &) const = default;
};

/// Position in tile order of workgroup `id`. XCD x = id mod xcds owns a contiguous range of
/// positions; with count = total / xcds and rest = total mod xcds the first `rest` XCDs own
/// count+1.
std::int64_t remapXcd(std::int64_t id, std::int64_t total, int xcds);

/// Tile at a position: groups of `groupM` rows are walked column by column (m fastest), the last
/// group may have fewer rows.
TileCoordinate groupedTile(std::int64_t position, std::int64_t tilesM, std::int64_t tilesN,
                           int groupM);

/// Both: the tile of piece number `id` of a batch, and which of its splits it is. Without walkers
/// the number is the workgroup's.
TileCoordinate tileOf(const WorkgroupMapping &mapping, std::int64_t id);
int splitOf(const WorkgroupMapping &mapping, std::int64_t id);

/// How many tiles workgroup `workgroup` of a batch takes: at least one.
std::int64_t turnsOf(const WorkgroupMapping &mapping, std::int64_t workgroup);
/// Number of the tile that it takes in turn `turn` (from 0); `tileOf` says where it lies.
std::int64_t tileNumber(const WorkgroupMapping &mapping, std::int64_t workgroup, std::int64_t turn);

} // namespace kw
