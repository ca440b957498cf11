// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Compile.h"
#include "experiments/bench/Problems.h"
#include "search/Space.h"

#include <algorithm>
#include <benchmark/benchmark.h>

namespace kw::bench {
namespace {

/// Schedule to HSACO, over legal schedules drawn uniformly. Counters: median and 95th percentile in
/// milliseconds, the quantities that the time of a trial is judged by.
void compileDrawn(benchmark::State &state) {
  const Problem subject = problem(problems[state.range(0)]);
  const std::vector<Schedule> drawn = Space(subject, gfx950()).sample(40, 1);
  std::vector<double> milliseconds;
  std::size_t next = 0;
  for (auto _ : state) {
    const Expected<Compiled> compiled = compile(subject, drawn[next++ % drawn.size()], gfx950());
    if (!compiled) {
      state.SkipWithError(compiled.error().message.c_str());
      return;
    }
    milliseconds.push_back(compiled->milliseconds);
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  state.counters["median_ms"] = milliseconds[milliseconds.size() / 2];
  state.counters["p95_ms"] = milliseconds[milliseconds.size() * 95 / 100];
  state.SetLabel(print(subject));
}
BENCHMARK(compileDrawn)->DenseRange(0, 2)->Iterations(40)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace kw::bench
