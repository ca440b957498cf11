// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decisions that no kernel of ours follows yet, a row each. A row goes away when codegen learns it.
#include "ir/rules/GemmRules.h"

#include <fmt/format.h>

namespace kw {
namespace {

using namespace gemmrules;

/// `decision` may only have one value yet.
template <auto holds> Rule onlyDefault(std::string_view name, std::string_view decision) {
  return {name, reads({decision}),
          [](const Problem &, const Schedule &s, const Target &) { return holds(gemmOf(s)); },
          [](const Problem &, const Schedule &s, const Target &) {
            return fmt::format("{}: not supported yet", print(s));
          }};
}

} // namespace

std::vector<Rule> gemmPendingRules() {
  using G = GemmSchedule;
  return {
      onlyDefault<[](const G &s) { return s.mapping.grid != GridKind::streamk; }>("pendingStreamK",
                                                                                  "grid"),
  };
}

} // namespace kw
