// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/StreamShares.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace kw {

StreamShares::StreamShares(const WorkgroupMapping &mapping)
    : mapping(mapping), count(mapping.workgroups()) {
  assert(mapping.isStream());
  const std::int64_t steps = places() * mapping.sharedSteps;
  base = steps / count;
  rest = steps % count;
}

std::int64_t StreamShares::positionOf(std::int64_t workgroup) const {
  return remapXcd(workgroup, count, mapping.xcds);
}

std::int64_t StreamShares::begin(std::int64_t position) const {
  assert(position >= 0 && position <= count);
  return position * base + std::min(position, rest);
}

std::int64_t StreamShares::ownerOf(std::int64_t step) const {
  const std::int64_t inLonger = rest * (base + 1);
  return step < inLonger ? step / (base + 1) : rest + (step - inLonger) / base;
}

std::vector<StreamShares::Part> StreamShares::partsOf(std::int64_t position) const {
  std::vector<Part> parts;
  const std::int64_t end = begin(position + 1);
  for (std::int64_t step = begin(position); step < end; step += parts.back().steps) {
    const std::int64_t first = step % mapping.sharedSteps;
    parts.push_back(
        {step / mapping.sharedSteps, first, std::min(mapping.sharedSteps - first, end - step)});
  }
  return parts;
}

StreamShares::Owners StreamShares::ownersOf(std::int64_t place) const {
  const std::int64_t first = place * mapping.sharedSteps;
  return {ownerOf(first), ownerOf(first + mapping.sharedSteps - 1)};
}

TileCoordinate StreamShares::tileAt(std::int64_t place) const {
  return groupedTile(place % mapping.tiles(), mapping.tilesM, mapping.tilesN, mapping.groupM);
}

/// Every end of a share makes one more piece unless a tile ends there. Ends lie at multiples of
/// base + 1 from the line's begin and of base from its end.
StreamCounts streamCounts(const WorkgroupMapping &mapping) {
  const std::int64_t steps = mapping.sharedSteps, workgroups = mapping.workgroups();
  const std::int64_t tiles = mapping.tiles() * mapping.batches;
  const std::int64_t base = tiles * steps / workgroups, rest = tiles * steps % workgroups;
  const auto atTileEnds = [&](std::int64_t ends, std::int64_t apart) {
    return ends / (steps / std::gcd(steps, apart));
  };
  const std::int64_t longer = std::min(rest, workgroups - 1);
  const std::int64_t within =
      workgroups - 1 - atTileEnds(longer, base + 1) - atTileEnds(workgroups - 1 - longer, base);
  StreamCounts counts;
  counts.pieces = tiles + within;
  // Shares at least as long as a tile: at most one end lies within a tile. A step shorter: the
  // longer ones are whole tiles, from the line's begin on.
  counts.wholeTiles = base >= steps ? tiles - within : base + 1 == steps ? rest : 0;
  counts.splitTiles = tiles - counts.wholeTiles;
  return counts;
}

} // namespace kw
