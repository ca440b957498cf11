// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/semantics/Semantics.h"

#include <cassert>
#include <unordered_map>

namespace kw::detail {

namespace {

using SemanticsMap = std::unordered_map<std::string_view, const Semantics *>;

SemanticsMap buildMap() {
  SemanticsMap map;
  for (const auto table :
       {scalarTable(), controlTable(), scalarMemoryTable(), integerTable(), floatTable(),
        halfTable(), packedTable(), convertTable(), smallFloatTable(), compareTable(),
        crossLaneTable(), matrixTable(), ldsTable(), vectorMemoryTable(), vectorAtomicTable(),
        flatScratchTable()}) {
    for (const Semantics &row : table) {
      [[maybe_unused]] const bool isNew = map.emplace(row.name, &row).second;
      assert(isNew && "an instruction has two meanings");
    }
  }
  return map;
}

} // namespace

const Semantics *findSemantics(std::string_view name) {
  static const SemanticsMap map = buildMap();
  const auto found = map.find(name);
  return found == map.end() ? nullptr : found->second;
}

} // namespace kw::detail
