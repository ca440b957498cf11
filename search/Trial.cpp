// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/Trial.h"

#include <array>

namespace kw {

std::string_view name(Rung rung) {
  static constexpr std::array<std::string_view, 5> names{"model", "compiled", "validated",
                                                         "simulated", "measured"};
  return names.at(static_cast<std::size_t>(rung));
}

std::string_view name(TrialState state) {
  static constexpr std::array<std::string_view, 8> names{
      "ok", "illegal", "compile_failed", "spilled", "wrong", "crashed", "timeout", "failed"};
  return names.at(static_cast<std::size_t>(state));
}

} // namespace kw
