// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was tried and what came back, from which source.
#pragma once

#include "ir/Schedule.h"

#include <optional>
#include <string>
#include <string_view>

namespace kw {

/// Rungs of the ladder of fidelity, cheapest first.
enum class Rung { model, compiled, validated, simulated, measured };
std::string_view name(Rung rung);

enum class TrialState { ok, illegal, compileFailed, spilled, wrong, crashed, timeout, failed };
/// "ok", "illegal", "compile_failed", "spilled", "wrong", "crashed", "timeout", "failed".
std::string_view name(TrialState state);

/// The answer to one asked schedule. `timeUs` comes from `source`, the highest rung reached that
/// yields a time; absent when the trial failed.
struct Trial {
  Schedule schedule;
  TrialState state = TrialState::ok;
  std::string error;
  std::optional<double> timeUs;
  Rung source = Rung::model;
};

} // namespace kw
