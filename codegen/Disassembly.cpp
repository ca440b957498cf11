// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/Disassembly.h"

#include "codegen/AmdgpuTarget.h"
#include "codegen/HsacoFile.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>
#include <llvm/ADT/StringRef.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/raw_ostream.h>
#include <numeric>

namespace kw {
namespace {

/// Everything of LLVM MC that decoding and printing need.
class Decoder {
public:
  explicit Decoder(const std::string &cpu) {
    const llvm::Target &target = amdgpuTarget();
    const llvm::Triple triple = amdgpuTriple();
    registers.reset(target.createMCRegInfo(triple));
    asmInfo.reset(target.createMCAsmInfo(*registers, triple, llvm::MCTargetOptions()));
    instructions.reset(target.createMCInstrInfo());
    subtarget.reset(target.createMCSubtargetInfo(triple, cpu, ""));
    context =
        std::make_unique<llvm::MCContext>(triple, asmInfo.get(), registers.get(), subtarget.get());
    disassembler.reset(target.createMCDisassembler(*subtarget, *context));
    printer.reset(target.createMCInstPrinter(triple, asmInfo->getAssemblerDialect(), *asmInfo,
                                             *instructions, *registers));
  }

  /// Bytes taken, 0 if they are no instruction.
  std::uint64_t decode(std::span<const std::uint8_t> code, std::uint64_t address,
                       Instruction &result) {
    llvm::MCInst inst;
    std::uint64_t size = 0;
    if (disassembler->getInstruction(inst, size, {code.data(), code.size()}, address,
                                     llvm::nulls()) != llvm::MCDisassembler::Success) {
      return 0;
    }
    std::string text;
    llvm::raw_string_ostream stream(text);
    printer->printInst(&inst, address, "", *subtarget, stream);
    result.address = address;
    result.bytes = static_cast<int>(size);
    result.text = llvm::StringRef(text).trim().str();
    std::replace(result.text.begin(), result.text.end(), '\t', ' ');
    if (instructions->get(inst.getOpcode()).isBranch() && inst.getNumOperands() > 0 &&
        inst.getOperand(0).isImm()) {
      const auto words = static_cast<std::int16_t>(inst.getOperand(0).getImm());
      result.target = address + size + 4 * static_cast<std::int64_t>(words);
    }
    return size;
  }

private:
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> asmInfo;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

struct MnemonicPrefix {
  std::string_view prefix;
  InstructionClass kind;
};

/// First match wins, so special cases stand before the family they belong to.
constexpr MnemonicPrefix mnemonicPrefixes[] = {
    {"v_mfma_", InstructionClass::mfma},
    {"v_smfmac_", InstructionClass::mfma},
    {"v_nop", InstructionClass::nop},
    {"v_", InstructionClass::valu},
    {"ds_read", InstructionClass::ldsRead},
    {"ds_bpermute", InstructionClass::ldsRead},
    {"ds_permute", InstructionClass::ldsRead},
    {"ds_swizzle", InstructionClass::ldsRead},
    {"ds_", InstructionClass::ldsWrite},
    {"buffer_load", InstructionClass::vmemLoad},
    {"buffer_wbl2", InstructionClass::other},
    {"buffer_inv", InstructionClass::other},
    {"buffer_", InstructionClass::vmemStore},
    {"global_load", InstructionClass::vmemLoad},
    {"global_", InstructionClass::vmemStore},
    {"flat_load", InstructionClass::vmemLoad},
    {"flat_", InstructionClass::vmemStore},
    {"scratch_", InstructionClass::scratch},
    {"s_load", InstructionClass::smem},
    {"s_buffer_load", InstructionClass::smem},
    {"s_mem", InstructionClass::smem},
    {"s_waitcnt", InstructionClass::wait},
    {"s_barrier", InstructionClass::barrier},
    {"s_branch", InstructionClass::branch},
    {"s_cbranch", InstructionClass::branch},
    {"s_nop", InstructionClass::nop},
    {"s_", InstructionClass::salu},
};

InstructionClass classify(const Instruction &instruction) {
  const llvm::StringRef mnemonic(instruction.mnemonic());
  for (const MnemonicPrefix &entry : mnemonicPrefixes) {
    if (mnemonic.starts_with(entry.prefix)) {
      const bool toLds =
          entry.kind == InstructionClass::vmemLoad &&
          (llvm::StringRef(instruction.text).ends_with(" lds") || mnemonic.contains("_load_lds_"));
      return toLds ? InstructionClass::ldsDma : entry.kind;
    }
  }
  return InstructionClass::other;
}

/// The number in "vmcnt(3)", -1 if the counter isn't named.
int counterValue(llvm::StringRef text, llvm::StringRef counter) {
  const std::size_t at = text.find(counter);
  return at == llvm::StringRef::npos ? -1 : std::atoi(text.substr(at + counter.size()).data());
}

Expected<KernelDisassembly> disassembleKernel(Decoder &decoder, const KernelSection &section) {
  KernelDisassembly result;
  result.kernel = section.name;
  for (std::uint64_t at = 0; at < section.code.size();) {
    Instruction instruction;
    const std::uint64_t size =
        decoder.decode(section.code.subspan(at), section.address + at, instruction);
    if (size == 0) {
      return badInput(fmt::format("kernel {}: no gfx instruction at {:#x}", section.name,
                                  section.address + at));
    }
    instruction.kind = classify(instruction);
    if (instruction.kind == InstructionClass::wait) {
      instruction.vmcnt = counterValue(instruction.text, "vmcnt(");
      instruction.lgkmcnt = counterValue(instruction.text, "lgkmcnt(");
    }
    result.instructions.push_back(std::move(instruction));
    at += size;
  }
  auto isEnd = [](const Instruction &i) { return i.mnemonic() == "s_endpgm"; };
  auto lastEnd = std::find_if(result.instructions.rbegin(), result.instructions.rend(), isEnd);
  result.instructions.erase(lastEnd.base(), result.instructions.end());
  return result;
}

} // namespace

std::string_view name(InstructionClass kind) {
  static constexpr std::string_view names[instructionClassCount] = {
      "mfma", "lds_read", "lds_write", "vmem_load", "vmem_store", "lds_dma", "scratch", "valu",
      "salu", "smem",     "wait",      "barrier",   "branch",     "nop",     "other"};
  return names[static_cast<int>(kind)];
}

std::string_view Instruction::mnemonic() const {
  return std::string_view(text).substr(0, text.find(' '));
}

int ClassCounts::lds() const {
  return (*this)[InstructionClass::ldsRead] + (*this)[InstructionClass::ldsWrite];
}

int ClassCounts::vmem() const {
  return (*this)[InstructionClass::vmemLoad] + (*this)[InstructionClass::vmemStore] +
         (*this)[InstructionClass::ldsDma];
}

int ClassCounts::total() const { return std::accumulate(byClass.begin(), byClass.end(), 0); }

ClassCounts KernelDisassembly::counts() const {
  return instructions.empty() ? ClassCounts{} : counts({0, instructions.size() - 1});
}

ClassCounts KernelDisassembly::counts(MachineLoop loop) const {
  ClassCounts counts;
  for (std::size_t i = loop.first; i <= loop.last; ++i) {
    ++counts.byClass[static_cast<int>(instructions[i].kind)];
  }
  return counts;
}

std::vector<MachineLoop> KernelDisassembly::loops() const {
  std::vector<MachineLoop> loops;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const std::optional<std::uint64_t> target = instructions[i].target;
    if (!target || *target > instructions[i].address) {
      continue;
    }
    auto first = std::lower_bound(instructions.begin(), instructions.end(), *target,
                                  [](const Instruction &candidate, std::uint64_t address) {
                                    return candidate.address < address;
                                  });
    loops.push_back({static_cast<std::size_t>(first - instructions.begin()), i});
  }
  return loops;
}

std::string KernelDisassembly::text() const {
  std::string text;
  for (const Instruction &instruction : instructions) {
    fmt::format_to(std::back_inserter(text), "{:#8x}: {}\n", instruction.address, instruction.text);
  }
  return text;
}

Expected<std::vector<KernelDisassembly>> disassemble(std::span<const std::uint8_t> hsaco) {
  Expected<HsacoFile> file = parseHsaco(hsaco);
  if (!file) {
    return tl::unexpected(file.error());
  }
  Decoder decoder(file->cpu);
  std::vector<KernelDisassembly> result;
  for (const KernelSection &section : file->kernels) {
    Expected<KernelDisassembly> kernel = disassembleKernel(decoder, section);
    if (!kernel) {
      return tl::unexpected(kernel.error());
    }
    result.push_back(std::move(*kernel));
  }
  return result;
}

} // namespace kw
