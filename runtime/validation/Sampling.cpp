// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/validation/Sampling.h"

#include "ir/StreamShares.h"
#include "runtime/RandomValues.h"

#include <algorithm>
#include <set>

namespace kw {
namespace {

/// Along each dimension: is it the last tile?
unsigned kindOf(const WorkgroupMapping &mapping, const TileCoordinate &tile) {
  return (tile.m == mapping.tilesM - 1 ? 2U : 0U) + (tile.n == mapping.tilesN - 1 ? 1U : 0U);
}

/// The kinds of all its tiles, a bit each.
unsigned kindsOf(const WorkgroupMapping &mapping, std::int64_t workgroup) {
  unsigned kinds = 0;
  if (mapping.isStream()) {
    const StreamShares shares(mapping);
    for (const StreamShares::Part &part : shares.partsOf(shares.positionOf(workgroup))) {
      kinds |= 1U << kindOf(mapping, shares.tileAt(part.place));
    }
    return kinds;
  }
  const std::int64_t inBatch = workgroup % mapping.workgroups();
  for (std::int64_t turn = 0; turn < turnsOf(mapping, inBatch); ++turn) {
    kinds |= 1U << kindOf(mapping, tileOf(mapping, tileNumber(mapping, inBatch, turn)));
  }
  return kinds;
}

/// Workgroups of a launch in pseudo-random order, repetitions possible.
std::int64_t randomWorkgroup(const LaunchPlan &launch, std::uint64_t seed, std::uint64_t draw) {
  return static_cast<std::int64_t>(randomBits(seed, draw) %
                                   static_cast<std::uint64_t>(launch.workgroups));
}

/// In a grid without end a last row or column may not be drawn; the corner, which is both, always
/// is.
constexpr std::uint64_t draws = 1U << 16;

/// Who has the first part of the last batch's corner tile.
std::uint64_t cornerOfStream(const WorkgroupMapping &mapping) {
  const StreamShares shares(mapping);
  std::int64_t place = shares.places() - 1;
  while (kindOf(mapping, shares.tileAt(place)) != 3) {
    --place;
  }
  const std::int64_t owner = shares.ownersOf(place).first;
  std::int64_t id = 0;
  while (shares.positionOf(id) != owner) {
    ++id;
  }
  return static_cast<std::uint64_t>(id);
}

} // namespace

std::uint64_t cornerWorkgroup(const LaunchPlan &launch) {
  if (launch.mapping.isStream()) {
    return cornerOfStream(launch.mapping);
  }
  const std::int64_t pieces = launch.mapping.pieces();
  const std::int64_t firstOfLastBatch = launch.workgroups - launch.mapping.workgroups();
  for (std::int64_t id = 0; id < pieces; ++id) {
    if (kindOf(launch.mapping, tileOf(launch.mapping, id)) == 3) {
      return static_cast<std::uint64_t>(firstOfLastBatch + id % launch.mapping.workgroups());
    }
  }
  return static_cast<std::uint64_t>(launch.workgroups - 1);
}

std::vector<std::uint64_t> sampleWorkgroups(const LaunchPlan &launch, std::size_t wanted,
                                            std::uint64_t seed) {
  std::set<std::uint64_t> chosen{cornerWorkgroup(launch), 0,
                                 static_cast<std::uint64_t>(launch.workgroups - 1)};
  unsigned seen = 0;
  for (const std::uint64_t id : chosen) {
    seen |= kindsOf(launch.mapping, static_cast<std::int64_t>(id));
  }
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    const std::int64_t id = randomWorkgroup(launch, seed, draw);
    const unsigned kinds = kindsOf(launch.mapping, id);
    if ((kinds & ~seen) != 0) {
      seen |= kinds;
      chosen.insert(static_cast<std::uint64_t>(id));
    }
  }
  const auto most = static_cast<std::size_t>(launch.workgroups);
  for (std::uint64_t draw = draws; chosen.size() < std::min(wanted, most) && draw < 2 * draws;
       ++draw) {
    chosen.insert(static_cast<std::uint64_t>(randomWorkgroup(launch, seed, draw)));
  }
  return {chosen.begin(), chosen.end()};
}

} // namespace kw
