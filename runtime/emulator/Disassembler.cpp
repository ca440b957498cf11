// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/Disassembler.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/raw_ostream.h>
#include <mutex>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

namespace kw::detail {

struct Disassembler::Parts {
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> asmInfo;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

Disassembler::Disassembler() : parts(std::make_unique<Parts>()) {}
Disassembler::~Disassembler() = default;

Expected<std::unique_ptr<Disassembler>> Disassembler::create() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  const llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string message;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target) {
    return failed("LLVM has no AMDGPU target: " + message);
  }
  std::unique_ptr<Disassembler> result(new Disassembler);
  Parts &p = *result->parts;
  p.registers.reset(target->createMCRegInfo(triple));
  p.asmInfo.reset(target->createMCAsmInfo(*p.registers, triple, llvm::MCTargetOptions()));
  p.instructions.reset(target->createMCInstrInfo());
  p.subtarget.reset(target->createMCSubtargetInfo(triple, "gfx950", ""));
  p.context = std::make_unique<llvm::MCContext>(triple, p.asmInfo.get(), p.registers.get(),
                                                p.subtarget.get());
  p.disassembler.reset(target->createMCDisassembler(*p.subtarget, *p.context));
  p.printer.reset(target->createMCInstPrinter(triple, p.asmInfo->getAssemblerDialect(), *p.asmInfo,
                                              *p.instructions, *p.registers));
  if (!p.disassembler || !p.printer) {
    return failed("LLVM has no AMDGPU disassembler");
  }
  return result;
}

namespace {

/// SDWA selectors that do not exist: LLVM 22 decodes them and crashes when it prints them.
bool isBrokenSdwa(llvm::ArrayRef<std::uint8_t> bytes) {
  std::uint32_t word = 0, sdwa = 0;
  std::memcpy(&word, bytes.data(), 4);
  std::memcpy(&sdwa, bytes.data() + 4, 4);
  if (word >> 31 != 0 || (word & 0x1ff) != 0xf9) {
    return false;
  }
  const bool isVop1 = word >> 25 == 0x3f, isVopc = word >> 25 == 0x3e;
  return (sdwa >> 16 & 7) == 7 || (!isVop1 && (sdwa >> 24 & 7) == 7) ||
         (!isVopc && ((sdwa >> 8 & 7) == 7 || (sdwa >> 11 & 3) == 3));
}

} // namespace

unsigned Disassembler::decode(std::span<const std::uint8_t> bytes, std::uint64_t address,
                              llvm::MCInst &instruction) const {
  // LLVM 22 crashes where code ends before a literal (it has words for that, but nowhere to put
  // them): near the end it reads zeros on, and what needs them is no instruction.
  std::array<std::uint8_t, 32> end{};
  llvm::ArrayRef<std::uint8_t> readable(bytes.data(), bytes.size());
  if (bytes.size() < end.size()) {
    std::copy(bytes.begin(), bytes.end(), end.begin());
    readable = end;
  }
  std::uint64_t size = 0;
  const auto status =
      parts->disassembler->getInstruction(instruction, size, readable, address, llvm::nulls());
  return status == llvm::MCDisassembler::Success && size <= bytes.size() && !isBrokenSdwa(readable)
             ? static_cast<unsigned>(size)
             : 0;
}

std::string Disassembler::print(const llvm::MCInst &instruction, std::uint64_t address) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  parts->printer->printInst(&instruction, address, "", *parts->subtarget, stream);
  std::replace(text.begin(), text.end(), '\t', ' ');
  const auto first = text.find_first_not_of(' ');
  return first == std::string::npos ? text : text.substr(first);
}

std::string_view Disassembler::name(const llvm::MCInst &instruction) const {
  return parts->instructions->getName(instruction.getOpcode());
}

const llvm::MCInstrDesc &Disassembler::describe(const llvm::MCInst &instruction) const {
  return parts->instructions->get(instruction.getOpcode());
}

// Names are VGPR3, AGPR0_AGPR1, SGPR4_SGPR5, VCC, VCC_LO, M0_gfxpre11, FLAT_SCR_LO_vi, SRC_SCC, ...
NamedRegister Disassembler::reg(unsigned number) const {
  const llvm::StringRef name = parts->registers->getName(number);
  NamedRegister result;
  result.index = parts->registers->getEncodingValue(number) & 255;
  if (name.starts_with("VGPR") || name.starts_with("AGPR") || name.starts_with("SGPR") ||
      name.starts_with("TTMP")) {
    const llvm::StringRef prefix = name.take_front(4);
    result.words = static_cast<int>(name.count(prefix));
    result.file = prefix == "VGPR"   ? NamedRegister::File::vgpr
                  : prefix == "AGPR" ? NamedRegister::File::agpr
                                     : NamedRegister::File::scalar;
    return result;
  }
  result.file = NamedRegister::File::scalar;
  const bool isPair = name.starts_with("VCC") || name.starts_with("EXEC") ||
                      name.starts_with("FLAT_SCR") || name.starts_with("XNACK_MASK") ||
                      name.starts_with("SRC_SHARED") || name.starts_with("SRC_PRIVATE");
  result.words = isPair && !name.contains("_LO") && !name.contains("_HI") ? 2 : 1;
  return result;
}

unsigned Disassembler::classBits(int registerClass) const {
  return registerClass < 0 ? 0 : parts->registers->getRegClass(registerClass).getSizeInBits();
}

bool Disassembler::isVcc(unsigned number) const {
  return llvm::StringRef(parts->registers->getName(number)) == "VCC";
}
bool Disassembler::isScc(unsigned number) const {
  return llvm::StringRef(parts->registers->getName(number)) == "SCC";
}
bool Disassembler::isExec(unsigned number) const {
  return llvm::StringRef(parts->registers->getName(number)) == "EXEC";
}

} // namespace kw::detail
