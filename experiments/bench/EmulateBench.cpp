// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Compile.h"
#include "experiments/bench/Problems.h"
#include "runtime/Launcher.h"
#include "runtime/Validator.h"
#include "runtime/emulator/Emulator.h"

#include <benchmark/benchmark.h>
#include <cstring>

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

/// The same kernels over all workgroups of a larger problem, with one job and with two. Counters:
/// how many times faster two are by the clock on the wall, and GFLOP/s of two.
void emulateTwoJobs(benchmark::State &state) {
  const char *subject = "gemm m=1024 n=1024 k=1024 dtype=bf16 b=nk";
  const char *decisions = state.range(0) ? "gemm.1:tile=256x256x64,waves=2x4,xcd=0,group=0"
                                         : "gemm.1:tile=64x64x64,waves=2x2,xcd=0,group=0";
  const Expected<Compiled> compiled = compile(problem(subject), schedule(decisions), gfx950());
  if (!compiled) {
    state.SkipWithError(compiled.error().message.c_str());
    return;
  }
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  double seconds[3] = {};
  double flops = 0;
  for (auto _ : state) {
    for (const int jobs : {1, 2}) {
      RunOptions how;
      how.strict = state.range(1) != 0;
      how.jobs = jobs;
      const Expected<TimedRun> run = runFromFresh(compiled->object, ".", *device, how);
      if (!run || !run->result.findings.empty()) {
        state.SkipWithError(run ? "findings" : run.error().message.c_str());
        return;
      }
      seconds[jobs] += run->result.seconds;
      flops = run->result.matrixFlops;
    }
  }
  state.counters["ratio"] = seconds[1] / seconds[2];
  state.counters["emulated_gflops"] =
      flops * static_cast<double>(state.iterations()) / seconds[2] / 1e9;
  state.SetLabel(std::string(decisions) + (state.range(1) ? " strict" : ""));
}
BENCHMARK(emulateTwoJobs)
    ->ArgsProduct({{0, 1}, {0, 1}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

/// A loop of eight plain vector instructions and three scalar ones, 8192 times.
constexpr std::uint32_t vectorLoop[] = {
    0x7e0202f2,             // v_mov_b32 v1, 1.0
    0x7e0402f0,             // v_mov_b32 v2, 0.5
    0x7e0602f4,             // v_mov_b32 v3, 2.0
    0x7e080280,             // v_mov_b32 v4, 0
    0xb00a2000,             // s_movk_i32 s10, 0x2000
    0xd1cb0004, 0x04120501, // v_fma_f32 v4, v1, v2, v4
    0x020a0901,             // v_add_f32 v5, v1, v4
    0x0a0c0505,             // v_mul_f32 v6, v5, v2
    0x680e0706,             // v_add_u32 v7, v6, v3
    0x26100b07,             // v_and_b32 v8, v7, v5
    0x24121081,             // v_lshlrev_b32 v9, 1, v8
    0x16140906,             // v_max_f32 v10, v6, v4
    0x2a160f09,             // v_xor_b32 v11, v9, v7
    0x808a810a,             // s_sub_u32 s10, s10, 1
    0xbf07800a,             // s_cmp_lg_u32 s10, 0
    0xbf85fff4,             // s_cbranch_scc1 back to v_fma
    0xbf810000,             // s_endpgm
};

/// Plain vector code on one core, put over the code of a kernel of ours. Counter: lanes of vector
/// instructions a second.
void emulateVector(benchmark::State &state) {
  Expected<Compiled> compiled = compile(problem("gemm m=512 n=512 k=1024 dtype=bf16 b=nk"),
                                        schedule("gemm.1:group=0"), gfx950());
  if (!compiled) {
    state.SkipWithError(compiled.error().message.c_str());
    return;
  }
  std::vector<std::uint8_t> &bytes = compiled->object.hsaco;
  const std::string kernel = compiled->object.manifest.launches.front().kernel;
  const Expected<LoadedCode> original = LoadedCode::load(bytes);
  std::memcpy(bytes.data() + original->instructions(kernel).front().fileOffset, vectorLoop,
              sizeof(vectorLoop));
  const Expected<LoadedCode> code = LoadedCode::load(bytes);
  EmulatorOptions options;
  options.strict = state.range(0) != 0;
  GlobalMemory memory;
  const auto &block = compiled->object.manifest.launches.front().block;
  double laneOperations = 0;
  for (auto _ : state) {
    const auto result = emulate(*code, kernel, memory, {.block = block}, options);
    if (!result || !result->clean()) {
      state.SkipWithError(result ? "findings" : result.error().message.c_str());
      return;
    }
    laneOperations += static_cast<double>(result->waves) * 8 * 8192 * 64;
  }
  state.counters["lane_operations"] =
      benchmark::Counter(laneOperations, benchmark::Counter::kIsRate);
  state.SetLabel(options.strict ? "strict" : "");
}
BENCHMARK(emulateVector)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace kw::bench
