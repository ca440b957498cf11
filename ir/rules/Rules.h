// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a family supplies to Rule.cpp: its rules in order, ir/rules/FAMILY.cpp. Long lists are split
// by subject; see README.md.
#pragma once

#include "ir/Rule.h"

#include <span>
#include <vector>

namespace kw {

std::span<const Rule> gemmRules();
std::span<const Rule> rmsNormRules();
std::span<const Rule> tritonGemmRules();
std::span<const Rule> attentionRules();
std::span<const Rule> groupedGemmRules();
std::span<const Rule> topKRules();

/// Parts of gemmRules(), in this order.
std::vector<Rule> gemmSupportRules();  ///< what no kernel on the target can do: the problem alone
std::vector<Rule> gemmTilingRules();   ///< tile, waves, matrix instruction, grid
std::vector<Rule> gemmAccessRules();   ///< path and width of the operands' loads
std::vector<Rule> gemmScaleRules();    ///< scaled operands
std::vector<Rule> gemmPipelineRules(); ///< prefetch, waits, epilogue, registers
std::vector<Rule> gemmLdsRules();      ///< layouts and capacity of LDS
std::vector<Rule> gemmMappingRules();  ///< order of tiles
std::vector<Rule> gemmSplitRules();    ///< workgroups that share a tile

/// What codegen cannot do yet (EmissionLimits.h), where the list is long.
std::vector<Rule> attentionLimits();

/// A dispatch counts its work items in 32 bits.
inline constexpr std::int64_t mostWorkItems = std::int64_t(1) << 32;

/// Smallest power of two that is not below `value` (at least 1).
constexpr std::int64_t powerOfTwoFrom(std::int64_t value) {
  std::int64_t power = 1;
  while (power < value) {
    power *= 2;
  }
  return power;
}

} // namespace kw
