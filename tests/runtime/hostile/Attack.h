// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Does with hostile input what `kw launch` and `kw validate` do with any: reads the manifest, loads
// and disassembles the code object, runs the launches. Sanitizers watch; here is checked that every
// refusal has its reason and that nothing is written but what `save` names, inside the folder.
#pragma once

#include "Mutator.h"

#include <array>
#include <filesystem>
#include <string>

namespace kw::test {

enum class Outcome { manifestRefused, refused, findings, clean };
inline constexpr std::array<const char *, 4> outcomeNames{"manifest refused", "refused", "findings",
                                                          "clean"};

struct Attacked {
  Outcome outcome{};
  std::string message; ///< of a refusal
  std::string broken;  ///< a promise that did not hold; empty: none
};

/// `number` chooses the way: strict or not, when data land, jobs, schedules. `folder` must be there
/// and empty; it is emptied again.
Attacked attack(const Victim &victim, std::uint64_t number, const std::filesystem::path &folder);

} // namespace kw::test
