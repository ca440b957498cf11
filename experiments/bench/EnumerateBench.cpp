// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/bench/Problems.h"
#include "search/Space.h"

#include <benchmark/benchmark.h>

namespace kw::bench {
namespace {

/// The exact count with every rule's share. Items: legal schedules.
void countSpace(benchmark::State &state) {
  const Problem subject = problem(problems[state.range(0)]);
  std::uint64_t legal = 0;
  for (auto _ : state) {
    legal += Space(subject, gfx950()).count().legal;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(legal));
  state.SetLabel(print(subject));
}
BENCHMARK(countSpace)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);

/// Visiting schedules one by one. Items: schedules.
void visitSpace(benchmark::State &state) {
  const Space space(problem(problems[state.range(0)]), gfx950());
  std::int64_t visited = 0;
  for (auto _ : state) {
    std::int64_t left = 100'000;
    space.forEach([&](const Schedule &) {
      ++visited;
      return --left > 0;
    });
  }
  state.SetItemsProcessed(visited);
  state.SetLabel(print(space.problem()));
}
BENCHMARK(visitSpace)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace kw::bench
