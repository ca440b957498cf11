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

namespace {

/// Products of narrow floats: what the bounds know, the matrix clocks, is a smaller part of their
/// time, so that a ranking needs many more loop graphs.
bool hasLooseBounds(const Problem &problem) {
  const Gemm *product = problem.family() == Family::gemm          ? &problem.gemm()
                        : problem.family() == Family::groupedGemm ? &problem.groupedGemm().product
                                                                  : nullptr;
  return product && isFloat(product->aType) && bitWidth(product->aType) <= 8;
}

} // namespace

std::string_view usualStrategy(const Space &space) {
  // About half a minute on one core, extrapolated from 15 million in 10 s. [measured: README.md]
  constexpr std::uint64_t largestRanked = 40'000'000;
  // 10 million of mxfp4 took more than a minute.
  constexpr std::uint64_t largestOfLoose = 3'000'000;
  return space.size() <= (hasLooseBounds(space.problem()) ? largestOfLoose : largestRanked)
             ? "exhaustive"
             : "climb";
}

} // namespace kw
