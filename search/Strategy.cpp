// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/Strategy.h"

#include "search/strategies/Strategies.h"

#include <array>

namespace kw {

std::span<const StrategyRow> strategies() {
  static constexpr std::array<StrategyRow, 4> all{{
      {"exhaustive", "estimates every legal schedule and asks for the best first", makeExhaustive},
      {"random", "asks for legal schedules drawn uniformly; estimates none", makeRandom},
      {"evolutionary", "breeds from the best results told, the model choosing among children",
       makeEvolutionary},
      {"climb", "estimates a spread of the space and climbs from the best: for very large spaces",
       makeClimb},
  }};
  return all;
}

const StrategyRow *findStrategy(std::string_view name) {
  for (const StrategyRow &row : strategies()) {
    if (row.name == name) {
      return &row;
    }
  }
  return nullptr;
}

std::string_view usualStrategy(const Space &space) {
  // About half a minute on one core, extrapolated from 15 million in 10 s. [measured: README.md]
  constexpr std::uint64_t largestRanked = 40'000'000;
  return space.size() <= largestRanked ? "exhaustive" : "climb";
}

} // namespace kw
