// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The whole legal space, estimated in a stream; schedules are asked in the order of the model. Only
// the best are kept: when they have all been asked, the next best come from another pass. What is
// surely worse than all that are kept gets a lower bound instead of an estimate.
#include "search/TopK.h"
#include "search/strategies/Strategies.h"

#include <atomic>
#include <limits>
#include <mutex>
#include <numeric>
#include <thread>

namespace kw {
namespace {

constexpr std::uint64_t chunkSize = 1 << 13; ///< schedules a thread takes at a time
constexpr std::size_t smallestPass = 1024;   ///< schedules that a pass keeps at least

/// Chunks in an order that soon has seen every corner of the space: the sooner good schedules are
/// known, the more others need no estimate. A step near the golden section, prime to the number.
std::uint64_t goldenStep(std::uint64_t chunks) {
  auto step = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(0.618 * double(chunks)));
  while (std::gcd(step, chunks) != 1) {
    ++step;
  }
  return step;
}

class Exhaustive final : public Strategy {
public:
  explicit Exhaustive(const StrategyContext &context)
      : space(context.space), target(context.target), jobs(std::max(1, context.jobs)) {}

  std::vector<Schedule> ask(std::size_t n) override {
    std::vector<Schedule> asked;
    while (asked.size() < n) {
      if (next == best.size() && !refill(n - asked.size())) {
        break;
      }
      after = best[next].place;
      asked.push_back(best[next++].schedule);
    }
    return asked;
  }

  void tell(const Trial &) override {}
  std::uint64_t estimated() const override { return estimates; }

private:
  /// Collects the best behind the last one asked; false: there are none.
  bool refill(std::size_t wanted) {
    next = 0;
    best.clear();
    if (finished) {
      return false;
    }
    const std::size_t k = std::max(wanted, smallestPass);
    TopK top(k);
    std::mutex merging;
    std::atomic<std::uint64_t> nextChunk{0};
    const auto work = [&] {
      TopK own = pass(nextChunk, k);
      const std::lock_guard lock(merging);
      top.merge(std::move(own));
    };
    std::vector<std::jthread> others;
    for (int job = 1; job < jobs; ++job) {
      others.emplace_back(work);
    }
    work();
    others.clear(); // joins
    best = top.take();
    finished = best.size() < k;
    return !best.empty();
  }

  TopK pass(std::atomic<std::uint64_t> &nextChunk, std::size_t k) {
    CostModel model(space.problem(), target);
    TopK top(k);
    const std::uint64_t size = space.size();
    const std::uint64_t chunks = (size + chunkSize - 1) / chunkSize;
    const std::uint64_t step = goldenStep(chunks);
    for (std::uint64_t chunk = nextChunk++; chunk < chunks; chunk = nextChunk++) {
      const std::uint64_t first = chunk * step % chunks * chunkSize;
      std::uint64_t rank = first;
      space.forRange(first, std::min(first + chunkSize, size), [&](const Schedule &schedule) {
        const RankedTime place{model.timeUs(schedule, top.limitUs()), rank++};
        if (place > after && top.wants(place)) {
          top.add({place, schedule});
        }
        return true;
      });
      estimates += rank - first;
    }
    return top;
  }

  const Space space; // shares its state
  const Target &target;
  int jobs;
  std::vector<Ranked> best;
  std::size_t next = 0; ///< in `best`
  bool finished = false;
  RankedTime after{-std::numeric_limits<double>::infinity(), 0};
  std::atomic<std::uint64_t> estimates{0};
};

} // namespace

std::unique_ptr<Strategy> makeExhaustive(const StrategyContext &context) {
  return std::make_unique<Exhaustive>(context);
}

} // namespace kw
