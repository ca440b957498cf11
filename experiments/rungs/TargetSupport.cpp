// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/rungs/TargetSupport.h"

#include "ir/rules/EmissionLimits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>

namespace kw {

namespace {

/// A row's sum crosses the halves of a wave by permlane swaps; there is no other lowering.
bool compiles(const Problem &problem, const Target &target) {
  return problem.family() != Family::rmsnorm || target.permlaneSwap;
}

/// The emulator decodes one instruction set, which these capabilities tell from its predecessor.
bool emulates(const Target &target) {
  return target.directToLds16 && target.transposingLdsRead && target.permlaneSwap;
}

template <typename Predicate> std::string namesOf(Predicate supported) {
  std::vector<std::string_view> names;
  for (const Target *target : targets()) {
    if (supported(*target)) {
      names.push_back(target->name);
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace

Expected<void> checkCompiles(const Problem &problem, const Target &target) {
  if (const auto limit = emissionLimit(problem, target)) {
    return badInput(
        fmt::format("{} cannot be compiled: {}: {}", print(problem), limit->rule, limit->message));
  }
  if (compiles(problem, target)) {
    return {};
  }
  return badInput(fmt::format(
      "{} cannot be compiled for {} yet, expected {}; the model alone knows all targets",
      print(problem), target.name,
      namesOf([&](const Target &other) { return compiles(problem, other); })));
}

Expected<void> checkEmulates(const Target &target) {
  if (emulates(target)) {
    return {};
  }
  return badInput(fmt::format("the emulated device cannot run code for {}, expected {}; the model "
                              "alone (--rungs model) knows all targets",
                              target.name, namesOf(emulates)));
}

} // namespace kw
