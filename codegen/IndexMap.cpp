// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/IndexMap.h"

#include <bit>
#include <cassert>

namespace kw {
namespace {

std::int64_t valueOf(const BitField &field, std::uint32_t index) {
  const std::uint32_t mask = (1u << field.width) - 1;
  return static_cast<std::int64_t>((index >> field.shift) & mask) * field.factor;
}

/// Adds the contribution of one more index bit, widening the last field if it goes on doubling.
void append(std::vector<BitField> &fields, int bit, std::int64_t contribution) {
  if (contribution == 0) {
    return;
  }
  if (!fields.empty()) {
    BitField &last = fields.back();
    if (last.shift + last.width == bit &&
        (static_cast<std::int64_t>(last.factor) << last.width) == contribution) {
      ++last.width;
      return;
    }
  }
  fields.push_back({bit, 1, static_cast<int>(contribution)});
}

/// Address bits below `split` combine by XOR, the rest by addition.
IndexMap fitAt(std::span<const std::int64_t> table, int split) {
  const std::int64_t lowMask = (std::int64_t{1} << split) - 1;
  IndexMap map;
  map.exclusiveBase = static_cast<std::int32_t>(table[0] & lowMask);
  map.base = static_cast<std::int32_t>(table[0] & ~lowMask);
  const int bits = std::countr_zero(table.size());
  for (int bit = 0; bit < bits; ++bit) {
    const std::int64_t value = table[std::size_t{1} << bit];
    append(map.exclusive, bit, (value ^ table[0]) & lowMask);
    append(map.additive, bit, (value & ~lowMask) - (table[0] & ~lowMask));
  }
  return map;
}

bool reproduces(const IndexMap &map, std::span<const std::int64_t> table) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (map(static_cast<std::uint32_t>(i)) != table[i]) {
      return false;
    }
  }
  return true;
}

} // namespace

std::int64_t IndexMap::operator()(std::uint32_t index) const {
  std::int64_t exclusiveSum = exclusiveBase;
  for (const BitField &field : exclusive) {
    exclusiveSum ^= valueOf(field, index);
  }
  std::int64_t sum = base + exclusiveSum;
  for (const BitField &field : additive) {
    sum += valueOf(field, index);
  }
  return sum;
}

std::optional<IndexMap> fitIndexMap(std::span<const std::int64_t> table) {
  assert(std::has_single_bit(table.size()));
  constexpr int addressBits = 18; // covers the LDS
  for (int split = 0; split <= addressBits; ++split) {
    IndexMap map = fitAt(table, split);
    if (reproduces(map, table)) {
      return map;
    }
  }
  return std::nullopt;
}

} // namespace kw
