// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/TileReuse.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <vector>

namespace kw {
namespace {

/// Counts distinct coordinates of at most `capacity` insertions.
class DistinctCounter {
public:
  explicit DistinctCounter(std::int64_t capacity)
      : slots(std::bit_ceil(static_cast<std::uint64_t>(2 * capacity)), -1) {}

  std::int64_t insert(std::int64_t value) {
    const std::size_t mask = slots.size() - 1;
    std::size_t at = mixBits(static_cast<std::uint64_t>(value)) & mask;
    while (slots[at] != -1 && slots[at] != value) {
      at = (at + 1) & mask;
    }
    count += slots[at] == -1;
    slots[at] = value;
    return count;
  }

private:
  std::vector<std::int64_t> slots;
  std::int64_t count = 0;
};

} // namespace

double bytesBeyondCache(const WorkgroupMapping &mapping, std::int64_t stride, std::int64_t window,
                        const SharedBytes &bytes) {
  assert(stride >= 1 && window >= 1);
  const std::int64_t inBatch = (mapping.pieces() + stride - 1) / stride;
  const std::int64_t resident = std::min(window, inBatch);
  DistinctCounter rows(resident), columns(resident);
  double least = bytes.byM + bytes.byN + bytes.byBoth + bytes.byNone;
  for (std::int64_t i = 0; i < resident; ++i) {
    const TileCoordinate tile = tileOf(mapping, i * stride);
    // Splits of a tile read different parts of its rows and columns.
    const int split = mapping.splits == 1 ? 0 : splitOf(mapping, i * stride);
    const auto row = static_cast<double>(rows.insert(tile.m * mapping.splits + split));
    const auto column = static_cast<double>(columns.insert(tile.n * mapping.splits + split));
    const double fetched = row * bytes.byM + column * bytes.byN + bytes.byNone;
    least = std::min(least, fetched / static_cast<double>(i + 1) + bytes.byBoth);
  }
  return least;
}

double TileReuse::operator()(const WorkgroupMapping &mapping, std::int64_t stride,
                             std::int64_t window, const SharedBytes &bytes) {
  std::uint64_t key = static_cast<std::uint64_t>(window);
  for (const std::int64_t part :
       {mapping.tilesM, mapping.tilesN, static_cast<std::int64_t>(mapping.xcds),
        static_cast<std::int64_t>(mapping.groupM), static_cast<std::int64_t>(mapping.splits),
        stride}) {
    key = mixInto(key, static_cast<std::uint64_t>(part));
  }
  for (const double part : {bytes.byM, bytes.byN, bytes.byBoth, bytes.byNone}) {
    key = mixInto(key, std::bit_cast<std::uint64_t>(part));
  }
  return memo.find(key, [&] { return bytesBeyondCache(mapping, stride, window, bytes); });
}

} // namespace kw
