// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/validation/Sampling.h"

#include "runtime/RandomValues.h"

#include <algorithm>
#include <array>
#include <set>

namespace kw {
namespace {

/// Along each dimension: is it the last tile?
std::size_t kindOf(const WorkgroupMapping &mapping, std::int64_t workgroup) {
  const TileCoordinate tile = tileOf(mapping, workgroup % mapping.tiles());
  return (tile.m == mapping.tilesM - 1 ? 2U : 0U) + (tile.n == mapping.tilesN - 1 ? 1U : 0U);
}

/// Workgroups of a launch in pseudo-random order, repetitions possible.
std::int64_t randomWorkgroup(const LaunchPlan &launch, std::uint64_t seed, std::uint64_t draw) {
  return static_cast<std::int64_t>(randomBits(seed, draw) %
                                   static_cast<std::uint64_t>(launch.workgroups));
}

/// In a grid without end a last row or column may not be drawn; the corner, which is both, always
/// is.
constexpr std::uint64_t draws = 1U << 16;

} // namespace

std::uint64_t cornerWorkgroup(const LaunchPlan &launch) {
  const std::int64_t tiles = launch.mapping.tiles();
  const std::int64_t firstOfLastBatch = launch.workgroups - tiles;
  for (std::int64_t id = 0; id < tiles; ++id) {
    if (kindOf(launch.mapping, id) == 3) {
      return static_cast<std::uint64_t>(firstOfLastBatch + id);
    }
  }
  return static_cast<std::uint64_t>(launch.workgroups - 1);
}

std::vector<std::uint64_t> sampleWorkgroups(const LaunchPlan &launch, std::size_t wanted,
                                            std::uint64_t seed) {
  std::set<std::uint64_t> chosen{cornerWorkgroup(launch), 0,
                                 static_cast<std::uint64_t>(launch.workgroups - 1)};
  std::array<bool, 4> seen{};
  for (const std::uint64_t id : chosen) {
    seen[kindOf(launch.mapping, static_cast<std::int64_t>(id))] = true;
  }
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    const std::int64_t id = randomWorkgroup(launch, seed, draw);
    bool &known = seen[kindOf(launch.mapping, id)];
    if (!known) {
      known = true;
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
