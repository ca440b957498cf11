// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Compile.h"
#include "experiments/bench/Problems.h"
#include "runtime/Validator.h"

#include <benchmark/benchmark.h>

namespace kw::bench {
namespace {

struct Case {
  const char *problem, *schedule;
};
constexpr Case cases[] = {
    {"gemm m=512 n=512 k=4096 dtype=bf16 b=nk", "gemm.1:tile=256x256x64,waves=2x4,xcd=0,group=0"},
    {"gemm m=512 n=512 k=1024 dtype=bf16 b=nk", "gemm.1:group=0"},
};

/// Validation of a whole problem in strict mode on one core. Counter: GFLOP/s of the emulator
/// alone, without inputs, reference and comparison.
void emulate(benchmark::State &state) {
  const Case &subject = cases[state.range(0)];
  const Expected<Compiled> compiled =
      compile(problem(subject.problem), schedule(subject.schedule), gfx950());
  if (!compiled) {
    state.SkipWithError(compiled.error().message.c_str());
    return;
  }
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  ValidateOptions options;
  options.strict = state.range(1) != 0;
  options.full = true;
  double gflops = 0;
  for (auto _ : state) {
    const Expected<Validation> validation = validate(compiled->object, gfx950(), *device, options);
    if (!validation || !validation->ok) {
      state.SkipWithError(validation ? "not valid" : validation.error().message.c_str());
      return;
    }
    gflops = validation->gflops;
  }
  state.counters["emulated_gflops"] = gflops;
  state.SetLabel(std::string(subject.problem) + " " + subject.schedule +
                 (options.strict ? " strict" : ""));
}
BENCHMARK(emulate)->ArgsProduct({{0, 1}, {0, 1}})->Unit(benchmark::kMillisecond);

} // namespace
} // namespace kw::bench
