// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the benchmarks work on.
#pragma once

#include "ir/Problem.h"
#include "ir/Schedule.h"
#include "ir/Target.h"

#include <cassert>

namespace kw::bench {

inline Problem problem(std::string_view text) {
  Expected<Problem> parsed = parseProblem(text);
  assert(parsed);
  return *parsed;
}

inline Schedule schedule(std::string_view text) {
  Expected<Schedule> parsed = parseSchedule(text);
  assert(parsed);
  return *parsed;
}

inline const Target &gfx950() {
  const Expected<const Target *> target = findTarget("gfx950");
  assert(target);
  return **target;
}

/// Large, small-m and bandwidth-bound: the three regimes of the suites.
inline constexpr const char *problems[] = {
    "gemm m=4096 n=4096 k=4096 dtype=bf16 b=nk",
    "gemm m=16 n=5120 k=3200 dtype=bf16 b=nk",
    "rmsnorm rows=2048 cols=8192 dtype=bf16 residual=1",
};

} // namespace kw::bench
