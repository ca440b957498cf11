// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/WorkgroupMapping.h"

#include <algorithm>
#include <cassert>

namespace kw {

std::int64_t remapXcd(std::int64_t id, std::int64_t total, int xcds) {
  assert(id >= 0 && id < total && xcds >= 1);
  const std::int64_t xcd = id % xcds;
  const std::int64_t count = total / xcds;
  const std::int64_t rest = total % xcds;
  return xcd * count + std::min(xcd, rest) + id / xcds;
}

TileCoordinate groupedTile(std::int64_t position, std::int64_t tilesM, std::int64_t tilesN,
                           int groupM) {
  assert(position >= 0 && position < tilesM * tilesN);
  if (groupM <= 0) {
    return {position / tilesN, position % tilesN};
  }
  const std::int64_t perGroup = groupM * tilesN;
  const std::int64_t firstRow = position / perGroup * groupM;
  const std::int64_t rows = std::min<std::int64_t>(groupM, tilesM - firstRow);
  const std::int64_t inGroup = position % perGroup;
  return {firstRow + inGroup % rows, inGroup / rows};
}

TileCoordinate tileOf(const WorkgroupMapping &mapping, std::int64_t id) {
  const std::int64_t position = remapXcd(id, mapping.pieces(), mapping.xcds);
  return groupedTile(position / mapping.splits, mapping.tilesM, mapping.tilesN, mapping.groupM);
}

int splitOf(const WorkgroupMapping &mapping, std::int64_t id) {
  return static_cast<int>(remapXcd(id, mapping.pieces(), mapping.xcds) % mapping.splits);
}

std::int64_t turnsOf(const WorkgroupMapping &mapping, std::int64_t workgroup) {
  assert(workgroup >= 0 && workgroup < mapping.workgroups());
  const std::int64_t step = mapping.workgroups();
  return (mapping.pieces() - workgroup + step - 1) / step;
}

std::int64_t tileNumber(const WorkgroupMapping &mapping, std::int64_t workgroup,
                        std::int64_t turn) {
  assert(turn >= 0 && turn < turnsOf(mapping, workgroup));
  return workgroup + turn * mapping.workgroups();
}

} // namespace kw
