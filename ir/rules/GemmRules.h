// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the files of GEMM's rules.
#pragma once

#include "ir/OperandLayout.h"
#include "ir/rules/Rules.h"

namespace kw::gemmrules {

inline const GemmSchedule &gemmOf(const Schedule &schedule) {
  return std::get<GemmSchedule>(schedule);
}

inline DecisionMask reads(std::initializer_list<std::string_view> names) {
  return maskOf(Family::gemm, names);
}

/// The operand that a rule is about, as a template argument, so that rules stay plain functions.
enum class Which { a, b };

template <Which which> const GemmSchedule::Operand &operand(const Schedule &s) {
  return which == Which::a ? gemmOf(s).a : gemmOf(s).b;
}
template <Which which> constexpr std::string_view label = which == Which::a ? "a" : "b";

template <Which which> OperandTile tileOf(const Problem &p, const Schedule &s) {
  return operandTile(p.gemm(), gemmOf(s), which == Which::a ? TileOperand::a : TileOperand::b);
}

} // namespace kw::gemmrules
