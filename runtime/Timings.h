// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adversarial time: the same launches again with data that land late or at random and waves and
// workgroups in other orders. Outputs that differ in a bit between these runs show a kernel that
// rests on an order that nothing guarantees.
#pragma once

#include "runtime/Device.h"
#include "runtime/HostBuffer.h"

#include <functional>
#include <string>
#include <vector>

namespace kw {

struct Timing {
  Landing landing{};
  bool wildTurns = false;
  std::uint64_t seed = 0;
};

/// `count` of them: late, early with other turns, then random ones, each with its own seed.
std::vector<Timing> timings(int count, std::uint64_t seed);
/// "data late, seed 3".
std::string describe(const Timing &timing);
/// `options` under this timing, without strict checks.
RunOptions underTiming(RunOptions options, const Timing &timing);

/// A run and what its buffers, in the manifest's order, hold afterwards.
struct TimedRun {
  RunResult result;
  std::vector<HostBuffer> contents;
};

/// Runs `run` once for each timing and compares all output buffers with those of `expected`, bit
/// for bit. Ends with the first run that differs: a finding "order-dependent" that names the first
/// byte and, by one more strict run, who wrote it last. `options` are those of the strict run. Sums
/// by floating-point atomics differ in their rounding by nature: those outputs are not compared.
Expected<std::vector<Finding>>
compareTimings(const Manifest &manifest, const TimedRun &expected,
               const std::vector<Timing> &timings, const RunOptions &options,
               const std::function<Expected<TimedRun>(const RunOptions &)> &run);

} // namespace kw
