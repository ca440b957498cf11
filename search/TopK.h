// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The K best schedules of a stream, by estimated time and, where that is equal, by rank: so that
// the result depends neither on the order of the stream nor on how it was divided.
#pragma once

#include "ir/Schedule.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <vector>

namespace kw {

/// Position in the order of a ranking.
struct RankedTime {
  double timeUs = 0;
  std::uint64_t rank = 0; ///< in the space
  auto operator<=>(const RankedTime &) const = default;
};

struct Ranked {
  RankedTime place;
  Schedule schedule;
};

class TopK {
public:
  explicit TopK(std::size_t k) : k(k) {}

  bool wants(const RankedTime &place) const {
    return kept.size() < k || (k > 0 && place < kept.front().place);
  }

  /// Nothing that takes longer is wanted.
  double limitUs() const {
    return kept.size() < k || k == 0 ? std::numeric_limits<double>::infinity()
                                     : kept.front().place.timeUs;
  }

  /// A schedule that is wanted.
  void add(Ranked ranked) {
    if (kept.size() == k) {
      std::ranges::pop_heap(kept, {}, &Ranked::place);
      kept.pop_back();
    }
    kept.push_back(std::move(ranked));
    std::ranges::push_heap(kept, {}, &Ranked::place);
  }

  void merge(TopK &&other) {
    for (Ranked &ranked : other.kept) {
      if (wants(ranked.place)) {
        add(std::move(ranked));
      }
    }
  }

  /// Best first.
  std::vector<Ranked> take() {
    std::ranges::sort(kept, {}, &Ranked::place);
    return std::move(kept);
  }

private:
  std::size_t k;
  std::vector<Ranked> kept; ///< heap, the worst in front
};

} // namespace kw
