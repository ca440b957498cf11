// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shorthands to write tables of matrix instructions and LDS phases.
#pragma once

#include "ir/Target.h"

#include <array>
#include <cstddef>

namespace kw::tables {

inline constexpr std::size_t waveLanes = 64;

/// Registers that K elements of one lane take: `rows` rows (or columns) of K elements over a wave.
constexpr int operandRegisters(int rows, int k, int bits) {
  return rows * k * bits / (static_cast<int>(waveLanes) * 32);
}

/// A floating point instruction with f32 result, both operands of the same width.
constexpr MatrixInstruction toF32(int m, int n, int k, ElementType type, int bits, int cycles,
                                  std::string_view mnemonic) {
  return {m,
          n,
          k,
          type,
          type,
          ElementType::f32,
          operandRegisters(m, k, bits),
          operandRegisters(n, k, bits),
          m * n / static_cast<int>(waveLanes),
          cycles,
          mnemonic};
}

constexpr MatrixInstruction toI32(int m, int n, int k, int cycles, std::string_view mnemonic) {
  return {m,
          n,
          k,
          ElementType::i8,
          ElementType::i8,
          ElementType::i32,
          operandRegisters(m, k, 8),
          operandRegisters(n, k, 8),
          m * n / static_cast<int>(waveLanes),
          cycles,
          mnemonic};
}

using LanePhases = std::array<std::uint8_t, waveLanes>;

/// Consecutive groups of `lanes` lanes, one phase each.
constexpr LanePhases consecutivePhases(int lanes) {
  LanePhases phases{};
  for (std::size_t lane = 0; lane < waveLanes; ++lane) {
    phases[lane] = static_cast<std::uint8_t>(lane / static_cast<std::size_t>(lanes));
  }
  return phases;
}

} // namespace kw::tables
