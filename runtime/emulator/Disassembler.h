// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's MC layer for gfx950, as far as the emulator needs it.
#pragma once

#include "ir/support/Expected.h"

#include <cstdint>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstrDesc.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace kw::detail {

/// A register as LLVM names it.
struct NamedRegister {
  enum class File : std::uint8_t { none, vgpr, agpr, scalar } file = File::none;
  int index = 0; ///< number of the first 32-bit register; scalar: encoding (VCC 106, M0 124, ...)
  int words = 1;
};

class Disassembler {
public:
  static Expected<std::unique_ptr<Disassembler>> create();
  ~Disassembler();

  /// Bytes consumed, or 0 if they are no instruction.
  unsigned decode(std::span<const std::uint8_t> bytes, std::uint64_t address,
                  llvm::MCInst &instruction) const;
  std::string print(const llvm::MCInst &instruction, std::uint64_t address) const;
  std::string_view name(const llvm::MCInst &instruction) const;
  const llvm::MCInstrDesc &describe(const llvm::MCInst &instruction) const;
  NamedRegister reg(unsigned number) const;
  /// Bits of a register class, 0 for none.
  unsigned classBits(int registerClass) const;
  bool isVcc(unsigned number) const;
  bool isScc(unsigned number) const;
  bool isExec(unsigned number) const;

private:
  Disassembler();
  struct Parts;
  std::unique_ptr<Parts> parts;
};

} // namespace kw::detail
