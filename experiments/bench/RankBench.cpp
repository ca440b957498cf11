// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/bench/Problems.h"
#include "search/Space.h"
#include "search/Strategy.h"

#include <benchmark/benchmark.h>

namespace kw::bench {
namespace {

/// The best ten of a whole space by the model on one core. Items: estimates.
void rankSpace(benchmark::State &state) {
  const Space space(problem(problems[state.range(0)]), gfx950());
  const StrategyContext context{space, gfx950(), 0, 1};
  std::uint64_t estimated = 0;
  for (auto _ : state) {
    const std::unique_ptr<Strategy> strategy = findStrategy("exhaustive")->make(context);
    benchmark::DoNotOptimize(strategy->ask(10));
    estimated += strategy->estimated();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(estimated));
  state.SetLabel(print(space.problem()));
}
BENCHMARK(rankSpace)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace kw::bench
