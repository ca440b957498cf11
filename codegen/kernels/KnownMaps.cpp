// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/KnownMaps.h"

#include <algorithm>

using namespace mlir;

namespace kw {

MappedOffset KnownMaps::findOrMap(TileBuilder &setup, std::vector<std::int64_t> table,
                                  Value index) {
  for (const Known &candidate : known) {
    const std::int64_t delta = table[0] - candidate.table[0];
    const bool constantDelta =
        std::equal(table.begin(), table.end(), candidate.table.begin(),
                   [&](std::int64_t wanted, std::int64_t have) { return wanted - have == delta; });
    if (constantDelta && delta >= 0) {
      return {candidate.value, static_cast<std::int32_t>(delta)};
    }
  }
  const std::optional<IndexMap> map = fitIndexMap(table);
  if (!map) {
    return {};
  }
  return add(std::move(table), setup.map(index, *map));
}

MappedOffset KnownMaps::add(std::vector<std::int64_t> table, Value value) {
  known.push_back({std::move(table), value});
  return {value, 0};
}

} // namespace kw
