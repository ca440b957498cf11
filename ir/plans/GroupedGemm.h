// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the rows of all groups become tiles of one grid. A group's rows are padded to whole tiles:
// what stands in no row is computed for nothing.
#pragma once

#include "ir/KernelPlan.h"

namespace kw {

struct GroupTiles {
  std::int64_t full = 0;  ///< tiles along m without padding, of all groups
  std::int64_t edges = 0; ///< groups that end within a tile
  std::int64_t rest = 0;  ///< rows in these last tiles
  std::int64_t n = 1;     ///< tiles along n of each

  std::int64_t alongM() const { return full + edges; }
  std::int64_t tiles() const { return alongM() * n; }
};
/// Walks over the different heights, not over the groups.
GroupTiles groupTiles(const GroupedGemm &op, const GemmSchedule::Tiling &tiling);

} // namespace kw
