// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stream-K: the K steps of all tiles of all batches, tile after tile, form one line; every
// workgroup takes a contiguous share of it, shares differ by a step at most. A tile that lies in
// several shares is done in parts, one a workgroup. Used by the plan (how many parts), the
// validator (who writes a tile) and tests; codegen emits the same arithmetic.
//
//   position of a workgroup    remapXcd(id, workgroups, xcds): an XCD's shares lie together
//   share of position p        [p * base + min(p, rest), ...) with base = steps / workgroups and
//                              rest = steps mod workgroups: the first `rest` have base + 1
//   tile at place t            batch t / tiles, groupedTile(t mod tiles)
#pragma once

#include "ir/WorkgroupMapping.h"

#include <cstdint>
#include <vector>

namespace kw {

class StreamShares {
public:
  /// `mapping.isStream()`.
  explicit StreamShares(const WorkgroupMapping &mapping);

  std::int64_t workgroups() const { return count; }
  std::int64_t places() const { return mapping.tiles() * mapping.batches; }

  std::int64_t positionOf(std::int64_t workgroup) const;
  /// First step of the line that belongs to the position; of `workgroups()`: the line's end.
  std::int64_t begin(std::int64_t position) const;
  std::int64_t longest() const { return base + (rest > 0 ? 1 : 0); }
  /// Position whose share holds the step.
  std::int64_t ownerOf(std::int64_t step) const;

  struct Part {
    std::int64_t place = 0;                ///< of the tile
    std::int64_t firstStep = 0, steps = 0; ///< of the tile
    bool operator==(const Part &) const = default;
  };
  /// In the order in which it does them.
  std::vector<Part> partsOf(std::int64_t position) const;

  /// Positions that have a part of the tile: first and last of a contiguous range.
  struct Owners {
    std::int64_t first = 0, last = 0;
  };
  Owners ownersOf(std::int64_t place) const;

  std::int64_t batchOf(std::int64_t place) const { return place / mapping.tiles(); }
  TileCoordinate tileAt(std::int64_t place) const;

private:
  WorkgroupMapping mapping;
  std::int64_t count = 1, base = 0, rest = 0;
};

/// The same in numbers, without looking at each.
struct StreamCounts {
  std::int64_t pieces = 0;     ///< parts and whole tiles
  std::int64_t wholeTiles = 0; ///< done by one workgroup
  std::int64_t splitTiles = 0;
  std::int64_t parts() const { return pieces - wholeTiles; } ///< of split tiles
};
StreamCounts streamCounts(const WorkgroupMapping &mapping);

} // namespace kw
