// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What code generation cannot do yet, by name, a rule each. Such a problem or schedule is legal: it
// can be counted, ranked and estimated, but not compiled. A row goes away when codegen learns it.
#pragma once

#include "ir/Rule.h"

#include <optional>
#include <span>

namespace kw {

/// Rules of the problem first.
std::span<const Rule> emissionLimits(ScheduleKind kind);

/// The first limit of the problem alone that it is beyond; none: it can be compiled.
std::optional<Violation> emissionLimit(const Problem &problem, const Target &target);
/// The first limit, also of the schedule.
std::optional<Violation> emissionLimit(const Problem &problem, const Schedule &schedule,
                                       const Target &target);

} // namespace kw
