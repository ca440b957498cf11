// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/Strategy.h"

#include "search/strategies/Strategies.h"

#include <array>

namespace kw {

std::span<const StrategyRow> strategies() {
  static constexpr std::array<StrategyRow, 3> all{{
      {"exhaustive", "estimates every legal schedule and asks for the best first", makeExhaustive},
      {"random", "asks for legal schedules drawn uniformly; estimates none", makeRandom},
      {"evolutionary", "breeds from the best results told, the model choosing among children",
       makeEvolutionary},
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

} // namespace kw
