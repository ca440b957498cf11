// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/Decoder.h"

#include "runtime/emulator/EncodingRules.h"
#include "runtime/emulator/GlobalOrder.h"

#include "runtime/emulator/semantics/Semantics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fmt/core.h>
#include <llvm/MC/MCExpr.h>
#include <llvm/MC/MCInstrDesc.h>
#include <map>

namespace kw::detail {

namespace {

/// AMDGPU::OPERAND_INPUT_MODS of LLVM 22, whose header is not installed. [gfx950.md 5.1]
constexpr int inputModifiers = 45;
/// AMDGPU::OPERAND_REG_IMM_V2FP32 and _V2INT32: pairs of 32-bit values.
constexpr int packed32Types[] = {25, 26};

bool removeSuffix(std::string &name, std::string_view suffix) {
  if (!name.ends_with(suffix)) {
    return false;
  }
  name.resize(name.size() - suffix.size());
  return true;
}

Kind kindOf(std::string_view base) {
  struct Row {
    std::string_view prefix;
    Kind kind;
  };
  // First match wins.
  static constexpr Row rows[] = {
      {"S_LOAD_", Kind::smem},
      {"S_BUFFER_", Kind::smem},
      {"S_STORE_", Kind::smem},
      {"S_ATOMIC_", Kind::smem},
      {"S_SCRATCH_", Kind::smem},
      {"S_DCACHE_", Kind::smem},
      {"S_MEMTIME", Kind::smem},
      {"S_MEMREALTIME", Kind::smem},
      {"S_BRANCH", Kind::branch},
      {"S_CBRANCH_", Kind::branch},
      {"S_SETPC", Kind::branch},
      {"S_SWAPPC", Kind::branch},
      {"S_CALL", Kind::branch},
      {"S_WAITCNT", Kind::wait},
      {"S_BARRIER", Kind::barrier},
      {"S_ENDPGM", Kind::end},
      {"S_TRAP", Kind::trap},
      {"S_NOP", Kind::other},
      {"S_SLEEP", Kind::other},
      {"S_SETPRIO", Kind::other},
      {"S_SENDMSG", Kind::other},
      {"S_ICACHE", Kind::other},
      {"S_SETHALT", Kind::other},
      {"S_WAKEUP", Kind::other},
      {"S_INCPERFLEVEL", Kind::other},
      {"S_DECPERFLEVEL", Kind::other},
      {"S_TTRACEDATA", Kind::other},
      {"S_", Kind::salu},
      {"DS_BPERMUTE", Kind::ldsNoMemory},
      {"DS_PERMUTE", Kind::ldsNoMemory},
      {"DS_SWIZZLE", Kind::ldsNoMemory},
      {"DS_NOP", Kind::other},
      {"DS_", Kind::lds},
      {"BUFFER_INV", Kind::cache},
      {"BUFFER_WBL2", Kind::cache},
      {"BUFFER_WBINVL1", Kind::cache},
      {"BUFFER_", Kind::buffer},
      {"GLOBAL_", Kind::global},
      {"FLAT_", Kind::flat},
      {"SCRATCH_", Kind::scratch},
      {"V_MFMA_", Kind::mfma},
      {"V_SMFMAC_", Kind::mfma},
      {"V_", Kind::valu},
  };
  for (const Row &row : rows) {
    if (base.starts_with(row.prefix)) {
      return row.kind;
    }
  }
  return Kind::unknown;
}

bool isTranscendental(std::string_view base) {
  static constexpr std::string_view prefixes[] = {"V_EXP_",  "V_LOG_", "V_RCP_", "V_RSQ_",
                                                  "V_SQRT_", "V_SIN_", "V_COS_"};
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) { return base.starts_with(prefix); });
}

/// 16-bit results that leave the upper half of the register; most write zeros. [ISA; LLVM:
/// zeroesHigh16BitsOfDest]
bool keepsHighHalf(std::string_view base) {
  static constexpr std::string_view names[] = {
      "V_MAD_F16",  "V_MAD_U16",        "V_MAD_I16",       "V_FMA_F16",  "V_DIV_FIXUP_F16",
      "V_MIN3_F16", "V_MAX3_F16",       "V_MED3_F16",      "V_MIN3_I16", "V_MAX3_I16",
      "V_MED3_I16", "V_MIN3_U16",       "V_MAX3_U16",      "V_MED3_U16", "V_ADD_I16",
      "V_SUB_I16",  "V_ASHR_PK_I8_I32", "V_ASHR_PK_U8_I32"};
  return std::find(std::begin(names), std::end(names), base) != std::end(names);
}

/// Conversions to integers: there clamp means which exceptions are raised.
bool clampRaisesOnly(std::string_view base) {
  return base.starts_with("V_CVT_I") || base.starts_with("V_CVT_U") ||
         base.starts_with("V_CVT_RPI") || base.starts_with("V_CVT_FLR");
}

bool isGlobalAccess(const Op &op) {
  return op.kind == Kind::buffer || op.kind == Kind::global || op.kind == Kind::flat;
}

class KernelDecoder {
public:
  KernelDecoder(const Disassembler &disassembler, KernelCode &kernel)
      : mc(disassembler), kernel(kernel), accumOffset(kernel.descriptor.accumOffset()) {}

  void decode(std::span<const std::uint8_t> code) {
    kernel.opAt.assign(code.size() / 4 + 1, -1);
    std::size_t offset = 0;
    while (offset + 4 <= code.size()) {
      llvm::MCInst instruction;
      const std::uint64_t address = kernel.begin + offset;
      const unsigned bytes = mc.decode(code.subspan(offset), address, instruction);
      begin(offset);
      if (bytes == 0 || bytes % 4 != 0) {
        end("?", "not an instruction");
        offset += 4;
        continue;
      }
      std::uint32_t first = 0;
      std::memcpy(&first, code.data() + offset, sizeof first);
      std::string text = mc.print(instruction, address);
      decodeOne(instruction, offset + bytes, {first, bytes, text});
      end(std::string(mc.name(instruction)), std::move(text));
      offset += bytes;
    }
    begin(offset);
    end("?", "end of the code");
    resolveBranches();
  }

private:
  void begin(std::size_t offset) {
    op = Op();
    op.index = static_cast<std::uint32_t>(kernel.ops.size());
    kernel.opAt[offset / 4] = static_cast<std::int32_t>(op.index);
    kernel.offsets.push_back(static_cast<std::uint32_t>(offset));
  }
  void end(std::string name, std::string text) {
    kernel.ops.push_back(op);
    kernel.names.push_back(std::move(name));
    kernel.text.push_back(std::move(text));
  }

  void decodeOne(const llvm::MCInst &instruction, std::size_t nextOffset,
                 const EncodedText &encoded) {
    name = parseOpcodeName(mc.name(instruction));
    const Semantics *semantics = findSemantics(name.base);
    if (!semantics) {
      return;
    }
    op.kind = kindOf(name.base);
    op.form = name.form;
    op.flow = semantics->flow;
    op.data = semantics->data;
    op.transcendental = isTranscendental(name.base);
    if (!decodeOperands(instruction)) {
      return;
    }
    noteImplicit(instruction);
    spreadConstants();
    if (op.kind == Kind::branch && name.base.find("PC") == std::string::npos) {
      op.imm = static_cast<std::int64_t>(nextOffset) +
               4 * static_cast<std::int16_t>(trailing.empty() ? 0 : trailing.back());
      branches.push_back(op.index);
    }
    if (const char *why = invalidEncoding(name, op, encoded)) {
      kernel.invalid[op.index] = why;
      return;
    }
    noteRegisters();
    op.simple = isSimple();
    op.run = semantics->run;
    op.use = GlobalUse::of(op);
    kernel.facts.addsFloatsAtomically |= op.floatAtomic && op.use.rmw && isGlobalAccess(op);
    op.advances = op.kind == Kind::mfma || (isGlobalAccess(op) && !op.use.rmw && !op.use.acquires);
    op.writesBack = name.base == "BUFFER_WBL2" && (op.imm & cachePolicy::sc1);
    kernel.communicates |= op.access == Access::atomic && op.kind != Kind::lds;
    kernel.communicates |= op.kind == Kind::smem && op.access == Access::store;
    // Polls what another workgroup stores.
    kernel.communicates |= isGlobalAccess(op) && op.access == Access::load && op.use.acquires &&
                           (op.cachePolicy & cachePolicy::sc1);
  }

  void noteRegisters() {
    int needed = 0;
    const auto look = [&](const Operand &operand) {
      needed =
          operand.file == File::vector ? std::max(needed, operand.reg + operand.words) : needed;
    };
    std::for_each(op.source.begin(), op.source.end(), look);
    std::for_each(op.result.begin(), op.result.end(), look);
    if (needed > kernel.descriptor.allocatedVgprs()) {
      op.registersNeeded = static_cast<std::uint16_t>(needed);
    }
  }

  bool isSimple() const {
    bool simple = op.kind == Kind::valu && op.flow == Flow::allSources && op.form == Form::plain &&
                  op.resultCount == 1 && op.result[0].file == File::vector &&
                  op.result[0].words == 1 && !op.transcendental && !op.writesExec && !op.readsVcc &&
                  !op.writesVcc && op.registersNeeded == 0;
    for (int i = 0; i < op.sourceCount; ++i) {
      const Operand &source = op.source[i];
      simple = simple && ((source.file == File::vector && source.words == 1) ||
                          source.file == File::constant);
    }
    return simple;
  }

  bool decodeOperands(const llvm::MCInst &instruction) {
    trailing.clear();
    switch (op.kind) {
    case Kind::lds:
    case Kind::ldsNoMemory:
    case Kind::buffer:
    case Kind::global:
    case Kind::flat:
    case Kind::scratch:
    case Kind::smem:
      return decodeMemoryOperands(mc, instruction, name, accumOffset, op);
    default:
      break;
    }
    if (!collect(instruction)) {
      return false;
    }
    if (op.kind == Kind::valu) {
      takeExchanged();
      takeVectorControls();
    } else if (op.kind == Kind::mfma) {
      takeMatrixControls();
    } else if (!trailing.empty()) {
      op.imm = trailing.back();
      op.imm2 = trailing.front();
    }
    op.readsExec = op.kind == Kind::valu || op.kind == Kind::mfma;
    if (name.base == "S_NOP") {
      op.waitStates = static_cast<std::uint8_t>(op.imm + 1);
    }
    return true;
  }

  /// Results, sources with their modifiers, and the immediates behind them.
  bool collect(const llvm::MCInst &instruction) {
    const llvm::MCInstrDesc &desc = mc.describe(instruction);
    std::uint8_t mods = 0;
    for (unsigned i = 0; i < instruction.getNumOperands(); ++i) {
      const llvm::MCOperand &operand = instruction.getOperand(i);
      const bool known = i < desc.getNumOperands();
      const int type = known ? desc.operands()[i].OperandType : -1;
      const int registerClass = known ? desc.operands()[i].RegClass : -1;
      if (i < desc.getNumDefs()) {
        if (!operand.isReg() || op.resultCount == op.result.size()) {
          return false;
        }
        op.result[op.resultCount++] = registerOperand(mc.reg(operand.getReg()), accumOffset);
        continue;
      }
      if (!known || desc.getOperandConstraint(i, llvm::MCOI::TIED_TO) >= 0) {
        if (isAddend(i, desc)) {
          op.sourceCount = std::max<std::uint8_t>(op.sourceCount, 2);
          addSource(registerOperand(mc.reg(operand.getReg()), accumOffset), mods);
        }
        continue;
      }
      if (type == inputModifiers) {
        mods = static_cast<std::uint8_t>(operand.getImm());
      } else if (operand.isReg()) {
        if (!addSource(registerOperand(mc.reg(operand.getReg()), accumOffset), mods)) {
          return false;
        }
        mods = 0;
      } else if (operand.isImm() &&
                 (registerClass >= 0 || type == literalType || type == literalType16)) {
        if (!addSource(constant(operand.getImm(), type, registerClass), mods)) {
          return false;
        }
        mods = 0;
      } else if (operand.isImm()) {
        trailing.push_back(operand.getImm());
      } else if (std::int64_t value = 0; operand.isExpr() && // a literal that could be inline
                                         operand.getExpr()->evaluateAsAbsolute(value)) {
        addSource(constant(value, type, registerClass), mods);
        mods = 0;
      } else {
        return false;
      }
    }
    return true;
  }

  /// v_fmac, v_dot2c and the like: the tied destination behind the sources is the third source.
  bool isAddend(unsigned i, const llvm::MCInstrDesc &desc) const {
    return op.flow == Flow::accumulate && op.kind == Kind::valu && i > desc.getNumDefs() &&
           name.form != Form::dpp;
  }

  bool addSource(const Operand &operand, std::uint8_t mods) {
    if (op.sourceCount == maxSources) {
      return false;
    }
    op.source[op.sourceCount] = operand;
    op.source[op.sourceCount++].mods = mods;
    return true;
  }

  static constexpr int literalType = 38;   ///< OPERAND_KIMM32
  static constexpr int literalType16 = 39; ///< OPERAND_KIMM16

  Operand constant(std::int64_t value, int type, int registerClass) const {
    Operand operand;
    operand.file = File::constant;
    operand.words = mc.classBits(registerClass) >= 64 ? 2 : 1;
    operand.value = static_cast<std::uint64_t>(value);
    if (std::find(std::begin(packed32Types), std::end(packed32Types), type) !=
        std::end(packed32Types)) {
      operand.value = (operand.value & 0xffffffff) | operand.value << 32;
    }
    return operand;
  }

  /// v_permlane*_swap, v_swap: the tied destinations are the sources.
  void takeExchanged() {
    if (op.flow == Flow::handler && op.resultCount == 2 && op.sourceCount == 0) {
      addSource(op.result[0], 0);
      addSource(op.result[1], 0);
    }
  }

  void takeVectorControls() {
    if (op.form == Form::dpp) {
      takeDpp();
    } else if (op.form == Form::sdwa) {
      takeSdwa();
    } else if (name.base.starts_with("V_BITOP3")) {
      op.imm = trailing.empty() ? 0 : trailing.front();
    } else if (trailing.size() <= 2) {
      op.clamp = !trailing.empty() && trailing[0] != 0;
      op.omod = trailing.size() == 2 ? static_cast<std::uint8_t>(trailing[1]) : 0;
    }
    op.clamp &= !clampRaisesOnly(name.base);
  }

  void takeDpp() {
    if (trailing.size() < 4) {
      return;
    }
    const auto *last = trailing.data() + trailing.size() - 4;
    op.imm = last[0];
    op.rowMask = static_cast<std::uint8_t>(last[1]);
    op.bankMask = static_cast<std::uint8_t>(last[2]);
    op.boundCtrl = last[3] != 0;
    if (op.flow == Flow::accumulate && op.sourceCount == 2) {
      addSource(op.result[0], 0);
    }
  }

  // VOP1 and VOP2: [clamp] [omod] dst_sel dst_unused src0_sel [src1_sel]; VOPC: [clamp] src0 src1;
  // v_cvt_f32_fp8 and its kin: clamp omod src0_sel.
  void takeSdwa() {
    const bool writesScalar = op.resultCount > 0 && op.result[0].file == File::scalar;
    const std::size_t selectors = op.sourceCount >= 2 ? 2 : 1;
    const bool selectsResult =
        !writesScalar && !name.base.ends_with("_FP8") && !name.base.ends_with("_BF8");
    const std::size_t tail = selectors + (selectsResult ? 2 : 0);
    if (trailing.size() < tail) {
      return;
    }
    const std::size_t first = trailing.size() - tail;
    op.clamp = first > 0 && trailing[0] != 0;
    op.omod = first > 1 ? static_cast<std::uint8_t>(trailing[1]) : 0;
    std::size_t at = first;
    if (selectsResult) {
      op.dstSel = static_cast<std::uint8_t>(trailing[at++]);
      op.dstUnused = static_cast<std::uint8_t>(trailing[at++]);
    }
    for (std::size_t i = 0; i < selectors; ++i) {
      op.srcSel[i] = static_cast<std::uint8_t>(trailing[at++]);
    }
  }

  // cbsz, abid, blgp; f8f6f4: cbsz, blgp (and op_sel, op_sel_hi of the scales behind).
  void takeMatrixControls() {
    if (name.formats.empty()) {
      op.imm = trailing.size() > 0 ? trailing[0] : 0;
      op.imm2 = trailing.size() > 1 ? trailing[1] : 0;
      op.imm3 = trailing.size() > 2 ? trailing[2] : 0;
      return;
    }
    op.imm = trailing.size() > 0 ? trailing[0] : 0;
    op.imm3 = trailing.size() > 1 ? trailing[1] : 0;
    const std::int64_t scaleA = trailing.size() > 2 ? trailing[2] : 0;
    const std::int64_t scaleB = trailing.size() > 3 ? trailing[3] : 0;
    scaleSelectors(scaleA, scaleB);
  }

  /// imm2: byte of the A scale in bits 0-1, of the B scale in bits 2-3. LLVM stores op_sel and
  /// op_sel_hi as source modifiers (4 and 8) of the two scale operands.
  void scaleSelectors(std::int64_t a, std::int64_t b) {
    const auto byte = [](std::int64_t mods) { return (mods >> 2 & 1) | (mods >> 2 & 2); };
    op.imm2 = byte(a) | byte(b) << 2;
  }

  void noteImplicit(const llvm::MCInst &instruction) {
    const llvm::MCInstrDesc &desc = mc.describe(instruction);
    Operand vcc;
    vcc.file = File::scalar;
    vcc.reg = scalarReg::vcc;
    vcc.words = 2;
    for (const llvm::MCPhysReg reg : desc.implicit_uses()) {
      op.readsScc |= mc.isScc(reg);
      op.readsExecAsSource |= op.kind == Kind::salu && mc.isExec(reg);
      op.readsVcc |= mc.isVcc(reg);
      if (mc.isVcc(reg) && op.kind == Kind::valu) {
        addSource(vcc, 0);
      }
    }
    for (const llvm::MCPhysReg reg : desc.implicit_defs()) {
      op.writesScc |= mc.isScc(reg);
      op.writesExec |= mc.isExec(reg);
      if (mc.isVcc(reg) && op.kind == Kind::valu && op.resultCount < 2) {
        op.writesVcc = true;
        op.result[op.resultCount++] = vcc;
      }
    }
    for (int i = 0; i < op.resultCount; ++i) {
      op.writesExec |= op.result[i].file == File::scalar &&
                       op.result[i].reg + op.result[i].words > scalarReg::exec;
    }
    op.keepsHighHalf = keepsHighHalf(name.base);
    op.plainResult = !op.clamp && op.omod == 0 && op.form != Form::sdwa && !op.keepsHighHalf;
    op.plainSources = op.form == Form::plain;
    for (int i = 0; i < op.sourceCount; ++i) {
      op.plainSources &= op.source[i].mods == 0;
    }
  }

  void spreadConstants() {
    for (int i = 0; i < op.sourceCount; ++i) {
      if (op.source[i].file == File::constant) {
        op.source[i].spread = spread(op.source[i].value);
      }
    }
  }

  const std::uint32_t *spread(std::uint64_t value) {
    auto [at, isNew] = spreads.try_emplace(value, nullptr);
    if (isNew) {
      Spread &added = kernel.spreads.emplace_back();
      std::fill_n(added.words[0], laneCount, static_cast<std::uint32_t>(value));
      std::fill_n(added.words[1], laneCount, static_cast<std::uint32_t>(value >> 32));
      at->second = added.words[0];
    }
    return at->second;
  }

  // A target outside the decoded code leads to the sentinel at the end, which fails when reached.
  void resolveBranches() {
    for (const std::uint32_t index : branches) {
      Op &branch = kernel.ops[index];
      const std::int64_t word = branch.imm / 4;
      const bool inside = branch.imm >= 0 && word < static_cast<std::int64_t>(kernel.opAt.size()) &&
                          kernel.opAt[word] >= 0;
      branch.imm = inside ? kernel.opAt[word] : static_cast<std::int64_t>(kernel.ops.size()) - 1;
    }
  }

  const Disassembler &mc;
  KernelCode &kernel;
  int accumOffset;
  Op op;
  OpcodeName name;
  std::vector<std::int64_t> trailing;
  std::vector<std::uint32_t> branches;
  std::map<std::uint64_t, const std::uint32_t *> spreads;
};

} // namespace

OpcodeName parseOpcodeName(std::string_view name) {
  OpcodeName result;
  std::string &base = result.base;
  base = name;
  static constexpr std::string_view encodings[] = {"_vi",     "_gfx9", "_gfx90a", "_gfx940",
                                                   "_gfx950", "_vcd",  "_acd",    "_opsel"};
  bool removed = true;
  while (removed) {
    removed = false;
    for (const std::string_view suffix : encodings) {
      removed |= removeSuffix(base, suffix);
    }
  }
  removeSuffix(base, "_e32");
  result.vop3 = removeSuffix(base, "_e64");
  if (removeSuffix(base, "_dpp")) {
    result.form = Form::dpp;
  } else if (removeSuffix(base, "_sdwa")) {
    result.form = Form::sdwa;
  }
  if (const auto at = base.find("_F8F6F4_"); at != std::string::npos) {
    result.formats = base.substr(at + 8);
    base.resize(at + 7);
  }
  const bool isScratch = base.starts_with("SCRATCH_");
  const bool isFlat = isScratch || base.starts_with("GLOBAL_") || base.starts_with("FLAT_");
  if (base.starts_with("BUFFER_") || isFlat) {
    result.returns = removeSuffix(base, "_RTN");
    if (removeSuffix(base, "_BOTHEN")) {
      result.offen = result.idxen = true;
    } else if (removeSuffix(base, "_OFFEN")) {
      result.offen = true;
    } else if (removeSuffix(base, "_IDXEN")) {
      result.idxen = true;
    } else if (!removeSuffix(base, "_OFFSET")) {
      result.scalarAddress = removeSuffix(base, "_SADDR");
    }
    if (isScratch) {
      result.scratchNoAddress = removeSuffix(base, "_ST");
      if (!removeSuffix(base, "_SVS")) {
        removeSuffix(base, "_VE");
      }
    }
    result.toLds = base.starts_with("BUFFER_") && removeSuffix(base, "_LDS");
    if (const auto at = base.find("_LOAD_LDS_"); at != std::string::npos) {
      result.toLds = true;
      base.erase(at + 5, 4);
    }
  } else if (kindOf(base) == Kind::smem) {
    removeSuffix(base, "_IMM");
    removeSuffix(base, "_SGPR");
    result.returns = removeSuffix(base, "_RTN");
  }
  return result;
}

Operand registerOperand(const NamedRegister &reg, int accumOffset) {
  Operand operand;
  operand.words = static_cast<std::uint8_t>(reg.words);
  operand.reg = static_cast<std::uint16_t>(reg.index);
  switch (reg.file) {
  case NamedRegister::File::none:
    break;
  case NamedRegister::File::vgpr:
    operand.file = File::vector;
    break;
  case NamedRegister::File::agpr:
    operand.file = File::vector;
    operand.reg = static_cast<std::uint16_t>(reg.index + accumOffset);
    break;
  case NamedRegister::File::scalar:
    operand.file = reg.index < scalarReg::count ? File::scalar : File::special;
    break;
  }
  return operand;
}

void decodeKernel(const Disassembler &disassembler, std::span<const std::uint8_t> code,
                  KernelCode &kernel) {
  KernelDecoder(disassembler, kernel).decode(code);
}

std::string KernelCode::neighbourhood(std::uint32_t index) const {
  const std::uint32_t from = index < 4 ? 0 : index - 4;
  const std::uint32_t to = std::min<std::uint32_t>(index + 4, ops.size() - 1);
  std::string result;
  for (std::uint32_t i = from; i <= to; ++i) {
    result += fmt::format("{} {:6x}: {}\n", i == index ? ">" : " ", offsets[i], text[i]);
  }
  return result;
}

const KernelCode *CodeImage::find(std::string_view name) const {
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const KernelCode &kernel) {
    return kernel.facts.name == name;
  });
  return found == kernels.end() ? nullptr : &*found;
}

} // namespace kw::detail
