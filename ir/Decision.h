// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decisions of a schedule as a table: text key, default, how to read and write the field. One
// table serves the text form, the axes of the search space, the masks of the rules, mutation in the
// strategies and features of the residual. A value is an integer here; its text is the table's.
#pragma once

#include "ir/Generator.h"
#include "ir/Problem.h"
#include "ir/Schedule.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kw {

struct Decision {
  std::string_view name; ///< "tileM"
  /// Key of the text form. Neighbours with the same key are printed as one, joined with `x`:
  /// `tile=128x128x64`.
  std::string_view key;
  std::string_view meaning; ///< one line for help and error texts, with unit
  std::int64_t (*get)(const Schedule &) = nullptr;
  void (*set)(Schedule &, std::int64_t) = nullptr;
  /// Names of the values 0, 1, ... ; empty: the value is printed as a number.
  std::span<const std::string_view> names;
  std::int64_t lowest = 0, highest = 0; ///< what the parser accepts

  std::string format(std::int64_t value) const;
  std::optional<std::int64_t> parse(std::string_view text) const;
};

/// In the order of the canonical text. At most 64 a kind (DecisionMask).
std::span<const Decision> decisions(ScheduleKind kind);

/// Set of decisions by index into `decisions(kind)`.
using DecisionMask = std::uint64_t;
/// Mask of the named decisions; asserts that each exists.
DecisionMask maskOf(ScheduleKind kind, std::initializer_list<std::string_view> names);

/// All defaults.
Schedule defaultSchedule(ScheduleKind kind);
Family familyOf(const Schedule &schedule);

} // namespace kw
