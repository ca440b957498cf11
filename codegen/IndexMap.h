// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns a layout function of ir/, tabulated over all lanes and waves, into the few shifts, masks
// and multiplications that compute it on the GPU. The result reproduces the table exactly or there
// is none: codegen never restates a layout by hand. It becomes one kw.map_index.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kw {

/// ((index >> shift) & (2^width - 1)) * factor
struct BitField {
  int shift = 0, width = 0, factor = 0;
  bool operator==(const BitField &) const = default;
};

/// base + sum(additive) + (exclusiveBase ^ xor(exclusive))
struct IndexMap {
  std::int32_t base = 0;
  std::vector<BitField> additive;
  std::int32_t exclusiveBase = 0;
  std::vector<BitField> exclusive;

  std::int64_t operator()(std::uint32_t index) const;
};

/// `table[i]` for i = 0 .. size - 1, the size a power of two, values in 0..2^30. Swizzled layouts
/// XOR low address bits and add high ones; the split is found by trying. nullopt: the function
/// needs carries between index bits (a division by 3, say).
std::optional<IndexMap> fitIndexMap(std::span<const std::int64_t> table);

} // namespace kw
