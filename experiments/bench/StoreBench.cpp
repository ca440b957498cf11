// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/store/Store.h"

#include <benchmark/benchmark.h>
#include <cstdlib>

namespace kw::bench {
namespace {

/// One trial with its result: a transaction that is flushed to the device. What every trial pays.
void recordTrial(benchmark::State &state) {
  std::string folder = (std::filesystem::temp_directory_path() / "kw-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    state.SkipWithError("no temporary folder");
    return;
  }
  {
    Expected<Store> store =
        Store::open(std::filesystem::path(folder) / "kw.db", Store::Access::write);
    RunRecord run;
    run.id = "bench";
    run.problem = "gemm m=1 n=1 k=1";
    if (!store || !store->beginRun(run)) {
      state.SkipWithError("no store");
      return;
    }
    int count = 0;
    for (auto _ : state) {
      const std::string key = std::to_string(count++);
      if (!store->record(
              {"bench", Rung::compiled, key, TrialState::ok, "", 0},
              ResultRecord{Rung::compiled, key, TrialState::ok, "", {{"vgpr", 128}}, key, 1000})) {
        state.SkipWithError("not recorded");
        return;
      }
    }
  }
  std::filesystem::remove_all(folder);
}
BENCHMARK(recordTrial)->Unit(benchmark::kMicrosecond);

} // namespace
} // namespace kw::bench
