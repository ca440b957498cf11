// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a rule says of a schedule.
#pragma once

#include "ir/Rule.h"

#include <string>
#include <string_view>

namespace kw {

inline const Target &gfx950() { return **findTarget("gfx950"); }

/// The message of `rule`; empty: the schedule keeps it.
inline std::string message(std::string_view problem, std::string_view schedule,
                           std::string_view rule) {
  for (const Violation &violation :
       checkLegal(*parseProblem(problem), *parseSchedule(schedule), gfx950())) {
    if (violation.rule == rule) {
      return violation.message;
    }
  }
  return "";
}

} // namespace kw
