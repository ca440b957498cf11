// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For spaces that are too large to rank whole: pieces spread evenly over the ranks are estimated,
// then neighbours of the best, and of the best of those, until the best stay. Asked in the order of
// the model; after these the rest in random order, so that nothing is out of reach.
#include "search/SparseShuffle.h"
#include "search/TopK.h"
#include "search/strategies/Strategies.h"

#include <algorithm>
#include <string>
#include <unordered_set>

namespace kw {
namespace {

constexpr std::uint64_t spread = 1 << 21;    ///< schedules that are estimated before the climb
constexpr std::uint64_t pieceSize = 1 << 10; ///< neighbours by rank share their loops
constexpr std::size_t kept = 1024;
constexpr std::size_t climbers = 32; ///< best ones whose neighbours are looked at
constexpr int mostRounds = 20;

class Climb final : public Strategy {
public:
  explicit Climb(const StrategyContext &context)
      : space(context.space), target(context.target), rest(space.size(), context.seed) {}

  std::vector<Schedule> ask(std::size_t n) override {
    if (!ranked) {
      rank();
    }
    std::vector<Schedule> asked;
    while (asked.size() < n && next < best.size()) {
      asked.push_back(best[next++].schedule);
    }
    while (asked.size() < n) {
      const auto other = rest.next();
      if (!other) {
        break;
      }
      Schedule schedule = space.at(*other);
      if (!known.contains(print(schedule))) {
        asked.push_back(std::move(schedule));
      }
    }
    return asked;
  }

  void tell(const Trial &) override {}
  std::uint64_t estimated() const override { return estimates; }

private:
  void rank() {
    ranked = true;
    CostModel model(space.problem(), target);
    estimateSpread(model);
    std::unordered_set<std::string> seen;
    for (const Ranked &one : best) {
      seen.insert(print(one.schedule));
    }
    std::unordered_set<std::string> expanded;
    for (int round = 0; round < mostRounds && expand(model, seen, expanded); ++round) {
    }
    for (const Ranked &one : best) {
      known.insert(print(one.schedule));
    }
  }

  void estimateSpread(CostModel &model) {
    TopK top(kept);
    const std::uint64_t size = space.size();
    const std::uint64_t pieces = std::max<std::uint64_t>(1, std::min(size, spread) / pieceSize);
    for (std::uint64_t piece = 0; piece < pieces; ++piece) {
      // 128 bits: ranks have up to 64.
      const auto first = static_cast<std::uint64_t>(__uint128_t(size) * piece / pieces);
      const auto after = static_cast<std::uint64_t>(__uint128_t(size) * (piece + 1) / pieces);
      std::uint64_t rank = first;
      space.forRange(first, std::min(after, first + pieceSize), [&](const Schedule &schedule) {
        const RankedTime place{model.timeUs(schedule, top.limitUs()), rank++};
        if (top.wants(place)) {
          top.add({place, schedule});
        }
        return true;
      });
      estimates += rank - first;
    }
    best = top.take();
  }

  /// False: the best were looked at before.
  bool expand(CostModel &model, std::unordered_set<std::string> &seen,
              std::unordered_set<std::string> &expanded) {
    std::vector<Ranked> found;
    bool moved = false;
    const double limit =
        best.size() < kept ? std::numeric_limits<double>::infinity() : best.back().place.timeUs;
    for (std::size_t i = 0; i < std::min(climbers, best.size()); ++i) {
      if (!expanded.insert(print(best[i].schedule)).second) {
        continue;
      }
      moved = true;
      for (Schedule &schedule : space.neighbours(best[i].schedule)) {
        if (seen.insert(print(schedule)).second) {
          found.push_back({{model.timeUs(schedule, limit), space.size() + estimates++}, schedule});
        }
      }
    }
    best.insert(best.end(), found.begin(), found.end());
    std::ranges::sort(best, {}, &Ranked::place);
    best.resize(std::min(best.size(), kept));
    return moved;
  }

  const Space space; // shares its state
  const Target &target;
  SparseShuffle rest;
  std::vector<Ranked> best;
  std::unordered_set<std::string> known; ///< texts of `best`
  std::size_t next = 0;
  bool ranked = false;
  std::uint64_t estimates = 0;
};

} // namespace

std::unique_ptr<Strategy> makeClimb(const StrategyContext &context) {
  return std::make_unique<Climb>(context);
}

} // namespace kw
