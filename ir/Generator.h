// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who turns decisions into a kernel. Each generator has its own decision record for each family
// that it makes, with its own meaning, and its own rules and planner: `ScheduleKind` names the
// pair. Everything that depends on the record (decisions, rules, plans, axes) is chosen by it.
#pragma once

#include "ir/Problem.h"
#include "ir/Schedule.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace kw {

enum class Generator : std::uint8_t {
  kw,     ///< ours: ir/Schedule.h
  triton, ///< TorchInductor's Triton templates: ir/generators/TritonGemm.h
};

std::string_view name(Generator generator);
/// The error names the generators that are known.
Expected<Generator> parseGenerator(std::string_view text);

struct ScheduleKind {
  Family family = Family::gemm;
  Generator generator = Generator::kw;

  /// A family alone means ours.
  constexpr ScheduleKind(Family family, Generator generator = Generator::kw)
      : family(family), generator(generator) {}
  bool operator==(const ScheduleKind &) const = default;
};

ScheduleKind kindOf(const Schedule &schedule);
/// Position of the kind's alternative in `Schedule`; asserts that there is one.
std::size_t indexOf(ScheduleKind kind);
/// Start of the kind's text form: GENERATOR.FAMILY.VERSION, ours without GENERATOR.
std::string_view formatOf(ScheduleKind kind);
/// Every kind, in the order of the alternatives.
std::span<const ScheduleKind> scheduleKinds();
/// The error says which families the generator makes.
Expected<ScheduleKind> findKind(Family family, Generator generator);

} // namespace kw
