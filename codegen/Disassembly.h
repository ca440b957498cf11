// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine code of an HSACO as text, with each instruction's class, and the loops in it. Tests
// compare the emitted order with the plan's through this, `kw compile` prints the counts.
#pragma once

#include "ir/support/Expected.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kw {

/// What an instruction occupies. `ldsDma` are loads straight to LDS, which also count in vmcnt.
enum class InstructionClass {
  mfma,
  ldsRead,
  ldsWrite,
  vmemLoad,
  vmemStore,
  ldsDma,
  scratch,
  valu,
  salu,
  smem,
  wait,
  barrier,
  branch,
  nop,
  other,
};
inline constexpr int instructionClassCount = 15;

/// "mfma", "lds_read", ...
std::string_view name(InstructionClass kind);

struct Instruction {
  std::uint64_t address = 0;
  int bytes = 0;
  std::string text; ///< "v_mfma_f32_16x16x32_bf16 v[0:3], v[4:7], v[8:11], v[0:3]"
  InstructionClass kind = InstructionClass::other;
  std::optional<std::uint64_t> target; ///< of a branch
  int vmcnt = -1;                      ///< of an s_waitcnt; -1: doesn't wait
  int lgkmcnt = -1;

  /// "v_mfma_f32_16x16x32_bf16"
  std::string_view mnemonic() const;
};

struct ClassCounts {
  std::array<int, instructionClassCount> byClass{};

  int operator[](InstructionClass kind) const { return byClass[static_cast<int>(kind)]; }
  int lds() const;  ///< ds_* of both directions
  int vmem() const; ///< loads, stores and loads to LDS
  int total() const;
};

/// Instructions [first, last]; `last` is the branch back to `first`.
struct MachineLoop {
  std::size_t first = 0;
  std::size_t last = 0;
};

struct KernelDisassembly {
  std::string kernel;
  std::vector<Instruction> instructions; ///< up to the last s_endpgm

  ClassCounts counts() const;
  ClassCounts counts(MachineLoop loop) const;
  std::vector<MachineLoop> loops() const; ///< in order of their end
  std::string text() const;               ///< a line an instruction, addresses in front
};

/// An encoding that LLVM cannot decode is an error with its address.
Expected<std::vector<KernelDisassembly>> disassemble(std::span<const std::uint8_t> hsaco);

} // namespace kw
