// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of memory instructions. Where a source ends up in Op::source:
//
//             [0]            [1]             [2]       [3]
//   ds        address        data0           data1
//   buffer    vaddr          rsrc            soffset   data
//   global    vaddr          saddr                     data
//   scratch   vaddr          saddr                     data
//   smem      sbase          soffset                   data
#include "runtime/emulator/Decoder.h"

#include <algorithm>

namespace kw::detail {

namespace {

struct DataRow {
  std::string_view suffix; ///< of LOAD_ and STORE_
  std::uint8_t bytes;
  MemoryType type;
};

constexpr DataRow dataRows[] = {
    {"DWORD", 4, MemoryType::dwords},
    {"DWORDX2", 8, MemoryType::dwords},
    {"DWORDX3", 12, MemoryType::dwords},
    {"DWORDX4", 16, MemoryType::dwords},
    {"DWORDX8", 32, MemoryType::dwords},
    {"DWORDX16", 64, MemoryType::dwords},
    {"UBYTE", 1, MemoryType::zeroExtend},
    {"SBYTE", 1, MemoryType::signExtend},
    {"USHORT", 2, MemoryType::zeroExtend},
    {"SSHORT", 2, MemoryType::signExtend},
    {"UBYTE_D16", 1, MemoryType::d16ZeroExtend},
    {"UBYTE_D16_HI", 1, MemoryType::d16HiZeroExtend},
    {"SBYTE_D16", 1, MemoryType::d16SignExtend},
    {"SBYTE_D16_HI", 1, MemoryType::d16HiSignExtend},
    {"SHORT_D16", 2, MemoryType::d16},
    {"SHORT_D16_HI", 2, MemoryType::d16Hi},
    {"BYTE", 1, MemoryType::d16},
    {"BYTE_D16_HI", 1, MemoryType::d16Hi},
    {"SHORT", 2, MemoryType::d16},
    // ds_
    {"B8", 1, MemoryType::d16},
    {"B8_D16_HI", 1, MemoryType::d16Hi},
    {"B16", 2, MemoryType::d16},
    {"B16_D16_HI", 2, MemoryType::d16Hi},
    {"B32", 4, MemoryType::dwords},
    {"B64", 8, MemoryType::dwords},
    {"B96", 12, MemoryType::dwords},
    {"B128", 16, MemoryType::dwords},
    {"U8", 1, MemoryType::zeroExtend},
    {"I8", 1, MemoryType::signExtend},
    {"U16", 2, MemoryType::zeroExtend},
    {"I16", 2, MemoryType::signExtend},
    {"U8_D16", 1, MemoryType::d16ZeroExtend},
    {"U8_D16_HI", 1, MemoryType::d16HiZeroExtend},
    {"I8_D16", 1, MemoryType::d16SignExtend},
    {"I8_D16_HI", 1, MemoryType::d16HiSignExtend},
    {"U16_D16", 2, MemoryType::d16},
    {"U16_D16_HI", 2, MemoryType::d16Hi},
    {"B64_TR_B16", 8, MemoryType::dwords},
    {"B64_TR_B8", 8, MemoryType::dwords},
    {"B64_TR_B4", 8, MemoryType::dwords},
    {"B96_TR_B6", 12, MemoryType::dwords},
};

/// What stands in the instruction before it is put in its place.
struct Gathered {
  std::vector<Operand> operands; ///< in order, results left out
  std::vector<std::int64_t> imms;
};

Gathered gather(const Disassembler &mc, const llvm::MCInst &instruction, bool takeTied,
                int accumOffset, Op &op) {
  Gathered result;
  const llvm::MCInstrDesc &desc = mc.describe(instruction);
  for (unsigned i = 0; i < instruction.getNumOperands(); ++i) {
    const llvm::MCOperand &operand = instruction.getOperand(i);
    const bool known = i < desc.getNumOperands();
    if (i < desc.getNumDefs()) {
      if (operand.isReg() && op.resultCount < op.result.size()) {
        op.result[op.resultCount++] = registerOperand(mc.reg(operand.getReg()), accumOffset);
      }
    } else if (operand.isReg()) {
      const bool tied = known && desc.getOperandConstraint(i, llvm::MCOI::TIED_TO) >= 0;
      if (known && (!tied || takeTied)) {
        result.operands.push_back(registerOperand(mc.reg(operand.getReg()), accumOffset));
      }
    } else if (operand.isImm()) {
      if (known && desc.operands()[i].RegClass >= 0) { // soffset as an inline constant
        Operand constant;
        constant.file = File::constant;
        constant.value = static_cast<std::uint64_t>(operand.getImm());
        result.operands.push_back(constant);
      } else {
        result.imms.push_back(operand.getImm());
      }
    }
  }
  return result;
}

std::int64_t signExtend(std::int64_t value, int bits) {
  const int shift = 64 - bits;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << shift) >> shift;
}

/// Width and conversion from the name's tail; atomics from their data operand.
bool setDataType(const OpcodeName &name, std::string_view prefix, Op &op) {
  std::string_view tail = std::string_view(name.base).substr(prefix.size());
  struct Verb {
    std::string_view text;
    Access access;
  };
  static constexpr Verb verbs[] = {
      {"LOAD_", Access::load},   {"STORE_", Access::store},    {"READ_", Access::load},
      {"WRITE_", Access::store}, {"READ2ST64_", Access::load}, {"WRITE2ST64_", Access::store},
      {"READ2_", Access::load},  {"WRITE2_", Access::store},
  };
  for (const Verb &verb : verbs) {
    if (!tail.starts_with(verb.text)) {
      continue;
    }
    op.access = verb.access;
    tail.remove_prefix(verb.text.size());
    const auto row = std::find_if(std::begin(dataRows), std::end(dataRows),
                                  [&](const DataRow &row) { return row.suffix == tail; });
    if (row == std::end(dataRows)) {
      return false;
    }
    op.accessBytes = row->bytes;
    op.memoryType = row->type;
    return true;
  }
  op.access = Access::atomic;
  return true;
}

bool decodeLds(const Gathered &in, const OpcodeName &name, Op &op) {
  if (in.imms.empty() || in.operands.size() > 3) {
    return false;
  }
  std::copy(in.operands.begin(), in.operands.end(), op.source.begin());
  op.sourceCount = static_cast<std::uint8_t>(in.operands.size());
  op.imm = in.imms[0];
  if (op.kind == Kind::ldsNoMemory) {
    return true;
  }
  const bool isPair =
      name.base.find("2_B") != std::string::npos || name.base.find("2ST64_B") != std::string::npos;
  if (isPair && in.imms.size() < 2) {
    return false;
  }
  if (!setDataType(name, "DS_", op)) {
    return false;
  }
  if (isPair) {
    const int scale = op.accessBytes * (name.base.find("ST64") != std::string::npos ? 64 : 1);
    op.imm = in.imms[0] * scale;
    op.imm2 = in.imms[1] * scale;
    op.offen = true; // two accesses
  }
  if (op.access == Access::atomic) {
    op.accessBytes = name.base.find("64") != std::string::npos ? 8 : 4;
    if (name.base.find("PK_ADD") != std::string::npos) {
      op.accessBytes = 4;
    }
  }
  return true;
}

void setAtomicBytes(const OpcodeName &name, Op &op) {
  op.floatAtomic = name.base.ends_with("_F64") || name.base.ends_with("_F32") ||
                   name.base.ends_with("_F16") || name.base.ends_with("_BF16");
  const bool isCompare = name.base.find("CMPSWAP") != std::string::npos;
  op.accessBytes = static_cast<std::uint8_t>(op.source[3].words * (isCompare ? 2 : 4));
  op.glc = name.returns;
}

bool decodeBuffer(const Gathered &in, const OpcodeName &name, Op &op) {
  if (!setDataType(name, "BUFFER_", op)) {
    return false;
  }
  const bool hasData = op.access != Access::load;
  const bool hasAddress = name.offen || name.idxen;
  if (in.operands.size() != std::size_t{2} + hasData + hasAddress || in.imms.empty()) {
    return false;
  }
  std::size_t at = 0;
  if (hasData) {
    op.source[3] = in.operands[at++];
  }
  if (hasAddress) {
    op.source[0] = in.operands[at++];
  }
  op.source[1] = in.operands[at++];
  op.source[2] = in.operands[at++];
  op.sourceCount = 4;
  op.imm = in.imms[0];
  op.cachePolicy = static_cast<std::uint8_t>(in.imms.size() > 1 ? in.imms[1] : 0);
  op.offen = name.offen;
  op.idxen = name.idxen;
  if (op.access == Access::atomic) {
    setAtomicBytes(name, op);
  }
  return true;
}

// Registers come in different orders; scalar ones are the base, the first vector one is the
// address, except that scratch stores begin with the data.
bool decodeFlat(const Gathered &in, const OpcodeName &name, Op &op) {
  const std::string_view prefix = op.kind == Kind::global    ? "GLOBAL_"
                                  : op.kind == Kind::scratch ? "SCRATCH_"
                                                             : "FLAT_";
  if (!setDataType(name, prefix, op) || in.imms.empty()) {
    return false;
  }
  std::vector<Operand> vectors;
  for (const Operand &operand : in.operands) {
    if (operand.file == File::vector) {
      vectors.push_back(operand);
    } else {
      op.source[1] = operand;
      op.addressIsScalar = true;
    }
  }
  const bool hasData = op.access != Access::load;
  if (op.kind == Kind::scratch) {
    std::size_t at = 0;
    if (hasData) {
      if (vectors.empty()) {
        return false;
      }
      op.source[3] = vectors[at++];
    }
    if (at < vectors.size()) {
      op.source[0] = vectors[at];
    }
  } else {
    if (vectors.size() != std::size_t{1} + hasData) {
      return false;
    }
    op.source[0] = vectors[0];
    if (hasData) {
      op.source[3] = vectors[1];
    }
  }
  op.sourceCount = 4;
  op.cachePolicy = static_cast<std::uint8_t>(in.imms.size() > 1 ? in.imms[1] : 0);
  op.imm = signExtend(in.imms[0], 13);
  if (op.access == Access::atomic) {
    setAtomicBytes(name, op);
  }
  return true;
}

bool decodeScalar(const Gathered &in, const OpcodeName &name, Op &op) {
  if (in.operands.empty()) {
    return true; // s_dcache_wb, s_memtime
  }
  std::size_t at = 0;
  const bool isStore = name.base.find("_STORE_") != std::string::npos;
  const bool isAtomic = name.base.find("_ATOMIC_") != std::string::npos;
  if (isStore || isAtomic) {
    op.source[3] = in.operands[at++];
  }
  if (at >= in.operands.size()) {
    return false;
  }
  op.source[0] = in.operands[at++];
  const bool hasOffsetRegister = at < in.operands.size();
  if (hasOffsetRegister) {
    op.source[1] = in.operands[at++];
  }
  // [offset] cpol: without an SGPR offset there is always an immediate one.
  if (!in.imms.empty() && (!hasOffsetRegister || in.imms.size() > 1)) {
    op.imm = signExtend(in.imms[0], 21);
  }
  op.sourceCount = 4;
  op.cachePolicy = static_cast<std::uint8_t>(in.imms.empty() ? 0 : in.imms.back());
  op.access = isStore ? Access::store : isAtomic ? Access::atomic : Access::load;
  op.glc = name.returns;
  op.accessBytes =
      static_cast<std::uint8_t>(4 * (op.resultCount > 0 ? op.result[0].words : op.source[3].words));
  return true;
}

} // namespace

bool decodeMemoryOperands(const Disassembler &mc, const llvm::MCInst &instruction,
                          const OpcodeName &name, int accumOffset, Op &op) {
  const bool takeTied = name.base.find("ATOMIC") != std::string::npos;
  const Gathered in = gather(mc, instruction, takeTied, accumOffset, op);
  op.flow = Flow::handler;
  op.readsExec = op.kind != Kind::smem;
  switch (op.kind) {
  case Kind::lds:
  case Kind::ldsNoMemory:
    return decodeLds(in, name, op);
  case Kind::buffer:
    if (!decodeBuffer(in, name, op)) {
      return false;
    }
    break;
  case Kind::smem:
    return decodeScalar(in, name, op);
  default:
    if (!decodeFlat(in, name, op)) {
      return false;
    }
  }
  if (name.toLds) {
    op.access = Access::loadToLds;
  }
  return true;
}

} // namespace kw::detail
