// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the space is explored: ask for schedules, tell what came back. A strategy sees the space and
// the model, never a compiler or a device. Same seed, same trace, for results told in the order
// asked.
#pragma once

#include "costmodel/CostModel.h"
#include "search/Space.h"
#include "search/Trial.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace kw {

struct StrategyContext {
  const Space &space;
  const Target &target;
  std::uint64_t seed = 0;
  int jobs = 1; ///< threads for estimates; results do not depend on it
};

class Strategy {
public:
  virtual ~Strategy() = default;
  /// Up to `n` schedules not asked before; fewer or none when the strategy has no more.
  virtual std::vector<Schedule> ask(std::size_t n) = 0;
  virtual void tell(const Trial &trial) = 0;
  /// Schedules estimated with the model so far.
  virtual std::uint64_t estimated() const = 0;
};

struct StrategyRow {
  std::string_view name, meaning;
  std::unique_ptr<Strategy> (*make)(const StrategyContext &);
};
/// "exhaustive" (all by model, best first), "random", "evolutionary", "climb" (a spread by model).
std::span<const StrategyRow> strategies();
/// nullptr: unknown.
const StrategyRow *findStrategy(std::string_view name);
/// Where nobody chose: "exhaustive", or "climb" where that would take too long.
std::string_view usualStrategy(const Space &space);

} // namespace kw
