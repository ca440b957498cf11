// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The baseline: legal schedules in random order, each once. What is told does not matter.
#include "search/SparseShuffle.h"
#include "search/strategies/Strategies.h"

namespace kw {
namespace {

class Random final : public Strategy {
public:
  explicit Random(const StrategyContext &context)
      : space(context.space), ranks(space.size(), context.seed) {}

  std::vector<Schedule> ask(std::size_t n) override {
    std::vector<Schedule> asked;
    while (asked.size() < n) {
      const auto rank = ranks.next();
      if (!rank) {
        break;
      }
      asked.push_back(space.at(*rank));
    }
    return asked;
  }

  void tell(const Trial &) override {}
  std::uint64_t estimated() const override { return 0; }

private:
  const Space space; // shares its state
  SparseShuffle ranks;
};

} // namespace

std::unique_ptr<Strategy> makeRandom(const StrategyContext &context) {
  return std::make_unique<Random>(context);
}

} // namespace kw
