// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/TileReuse.h"

#include "ir/StreamShares.h"

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

/// What a resident workgroup works on, as numbers that are equal where bytes are.
struct SharedPlace {
  std::int64_t row = 0, column = 0;
};

/// Splits of a tile read different parts of its rows and columns.
SharedPlace placeOf(const WorkgroupMapping &mapping, std::int64_t id) {
  const TileCoordinate tile = tileOf(mapping, id);
  const int split = mapping.splits == 1 ? 0 : splitOf(mapping, id);
  return {tile.m * mapping.splits + split, tile.n * mapping.splits + split};
}

/// Bytes that workgroups fetch which begin with the places of the resident ones: the mean over
/// `resident`, the least over all prefixes.
struct Fetched {
  double all = 0, least = 0;
};

template <typename PlaceOf>
Fetched fetchedBy(std::int64_t resident, const SharedBytes &bytes, PlaceOf place) {
  DistinctCounter rows(resident), columns(resident);
  Fetched result;
  result.least = bytes.byM + bytes.byN + bytes.byBoth + bytes.byNone;
  for (std::int64_t i = 0; i < resident; ++i) {
    const SharedPlace at = place(i);
    const auto row = static_cast<double>(rows.insert(at.row));
    const auto column = static_cast<double>(columns.insert(at.column));
    result.all = row * bytes.byM + column * bytes.byN + bytes.byNone;
    result.least = std::min(result.least, result.all / static_cast<double>(i + 1) + bytes.byBoth);
  }
  return result;
}

/// Stream-K: shares begin at any step of a tile and keep their distance in k. They share what the
/// cache keeps so long: half of it [prior] for the steps of all resident, were they in step.
double bytesBeyondCacheOfStream(const WorkgroupMapping &mapping, std::int64_t stride,
                                std::int64_t window, const SharedBytes &bytes, double cacheBytes) {
  const StreamShares shares(mapping);
  const std::int64_t resident = std::min(window, (shares.workgroups() + stride - 1) / stride);
  const auto within = [&](std::int64_t steps) {
    return fetchedBy(resident, bytes, [&](std::int64_t i) {
      const std::int64_t step = shares.begin(shares.positionOf(i * stride));
      const std::int64_t place = step / mapping.sharedSteps;
      const std::int64_t k = step % mapping.sharedSteps / steps;
      const TileCoordinate tile = shares.tileAt(place);
      const std::int64_t batch = shares.batchOf(place);
      return SharedPlace{(batch * mapping.tilesM + tile.m) * mapping.sharedSteps + k,
                         (batch * mapping.tilesN + tile.n) * mapping.sharedSteps + k};
    });
  };
  const double steps = static_cast<double>(shares.places() * mapping.sharedSteps) /
                       static_cast<double>(streamCounts(mapping).pieces); // of a piece
  const double aStep = within(mapping.sharedSteps).all / steps;
  const double kept = aStep > 0 ? cacheBytes / 2 / aStep : 1;
  // A power of two: a larger cache merges whole groups.
  const auto most = static_cast<double>(mapping.sharedSteps);
  return within(std::int64_t(
                    std::bit_floor(static_cast<std::uint64_t>(std::clamp(kept, 1.0, 2 * most)))))
      .least;
}

} // namespace

double bytesBeyondCache(const WorkgroupMapping &mapping, std::int64_t stride, std::int64_t window,
                        const SharedBytes &bytes, double cacheBytes) {
  assert(stride >= 1 && window >= 1);
  if (mapping.isStream()) {
    return bytesBeyondCacheOfStream(mapping, stride, window, bytes, cacheBytes);
  }
  const std::int64_t inBatch = (mapping.pieces() + stride - 1) / stride;
  return fetchedBy(std::min(window, inBatch), bytes,
                   [&](std::int64_t i) { return placeOf(mapping, i * stride); })
      .least;
}

double TileReuse::operator()(const WorkgroupMapping &mapping, std::int64_t stride,
                             std::int64_t window, const SharedBytes &bytes, double cacheBytes) {
  std::uint64_t key = static_cast<std::uint64_t>(window);
  for (const std::int64_t part :
       {mapping.tilesM, mapping.tilesN, static_cast<std::int64_t>(mapping.xcds),
        static_cast<std::int64_t>(mapping.groupM), static_cast<std::int64_t>(mapping.splits),
        mapping.sharedSteps, mapping.isStream() ? mapping.batches : 0,
        mapping.isStream() ? mapping.walkers : 0, stride}) {
    key = mixInto(key, static_cast<std::uint64_t>(part));
  }
  for (const double part : {bytes.byM, bytes.byN, bytes.byBoth, bytes.byNone}) {
    key = mixInto(key, std::bit_cast<std::uint64_t>(part));
  }
  if (mapping.isStream()) {
    key = mixInto(key, std::bit_cast<std::uint64_t>(cacheBytes));
  }
  return memo.find(key,
                   [&] { return bytesBeyondCache(mapping, stride, window, bytes, cacheBytes); });
}

} // namespace kw
