// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code to Ops. Code is decoded from the kernel's entry to the end of its symbol (or of the
// section, if it calls functions); bytes that are no instruction become Ops that fail when reached.
#pragma once

#include "runtime/emulator/CodeImage.h"
#include "runtime/emulator/Disassembler.h"

#include <span>
#include <string>
#include <string_view>

namespace kw::detail {

/// An opcode name taken apart: "BUFFER_LOAD_DWORDX4_LDS_OFFEN_gfx90a" is base BUFFER_LOAD_DWORDX4,
/// toLds, offen.
struct OpcodeName {
  std::string base;
  Form form = Form::plain;
  bool vop3 = false; ///< _e64
  bool offen = false, idxen = false, scalarAddress = false, toLds = false, returns = false;
  /// Addressing of scratch_*: off (no VGPR), or VGPR and SGPR.
  bool scratchNoAddress = false;
  std::string formats; ///< "f8_f4" of f8f6f4 matrix instructions
};
OpcodeName parseOpcodeName(std::string_view name);

/// Fills kernel.ops and what belongs to them. `code`: bytes from virtual address kernel.begin.
void decodeKernel(const Disassembler &disassembler, std::span<const std::uint8_t> code,
                  KernelCode &kernel);

/// DecodeMemory.cpp: operands of ds_*, buffer_*, global_*, flat_*, scratch_*, s_load_* and others.
/// False if the operands are of no form that it knows.
bool decodeMemoryOperands(const Disassembler &disassembler, const llvm::MCInst &instruction,
                          const OpcodeName &name, int accumOffset, Op &op);

/// Resolves a register operand; AGPRs start at accumOffset.
Operand registerOperand(const NamedRegister &reg, int accumOffset);

} // namespace kw::detail
