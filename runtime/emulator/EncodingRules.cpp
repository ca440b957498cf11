// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/EncodingRules.h"

#include "runtime/emulator/semantics/MatrixShapes.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kw::detail {

namespace {

bool isScalarSource(const Operand &operand) {
  // SCC, VCCZ, EXECZ and the apertures come the same way as scalar registers.
  return operand.file == File::scalar || operand.file == File::special;
}

/// VOP1, VOP2 and VOPC begin with a 0 bit; a second dword that is neither DPP nor SDWA is a
/// literal.
bool hasLiteral(const Op &op, const EncodedText &encoded) {
  return encoded.first >> 31 == 0 && encoded.bytes == 8 && op.form == Form::plain;
}

/// VALU: one scalar register (any number of times, VCC of carries and v_cndmask included), or one
/// literal. [ISA, 6.2.1] A register and a pair that it is part of are two, as LLVM has it.
bool readsTooManyScalars(const Op &op, const EncodedText &encoded) {
  std::set<std::pair<int, int>> scalars;
  for (int i = 0; i < op.sourceCount; ++i) {
    if (isScalarSource(op.source[i])) {
      scalars.insert({op.source[i].reg, op.source[i].words});
    }
  }
  return scalars.size() + (hasLiteral(op, encoded) ? 1 : 0) > 1;
}

/// A matrix result of more than four registers is its C, or lies apart from it.
bool overlapsAddend(const Op &op) {
  const Operand &d = op.result[0], &c = op.source[2];
  return c.file == File::vector && d.words > 4 && c.reg != d.reg && c.reg < d.reg + d.words &&
         d.reg < c.reg + c.words;
}

/// A mask of lanes is a scalar pair; moves of AGPRs and between lanes read vector registers.
bool readsWrongFile(const OpcodeName &name, const Op &op) {
  const bool readsMask = name.base == "V_CNDMASK_B32" || name.base == "V_ADDC_CO_U32" ||
                         name.base == "V_SUBB_CO_U32" || name.base == "V_SUBBREV_CO_U32";
  const bool readsVector = name.base == "V_ACCVGPR_READ_B32" || name.base == "V_ACCVGPR_MOV_B32" ||
                           name.base == "V_READLANE_B32" || name.base == "V_READFIRSTLANE_B32";
  const bool exchanges = name.base.starts_with("V_PERMLANE");
  return (readsMask && op.source[2].file != File::scalar) ||
         ((readsVector || exchanges) && op.source[0].file != File::vector) ||
         (exchanges && op.source[1].file != File::vector);
}

/// A reserved format of f8f6f4, or a broadcast over more blocks than there are.
bool hasMeaninglessControls(const Op &op) {
  const MatrixShape &shape = matrixShape(op);
  return shape.a == Element::f8f6f4 ? op.imm > lastFormat || op.imm3 > lastFormat
                                    : shape.blocks > 1 && 1 << op.imm > shape.blocks;
}

bool convertsToPackedFloats(const OpcodeName &name) {
  return name.base == "V_CVT_PK_BF16_F32" || name.base == "V_CVT_PK_F16_F32" ||
         name.base == "V_CVT_PKRTZ_F16_F32";
}

} // namespace

const char *invalidEncoding(const OpcodeName &name, const Op &op, const EncodedText &encoded) {
  const bool isMatrix = op.kind == Kind::mfma;
  if (isMatrix && std::any_of(op.source.begin(), op.source.begin() + 3, isScalarSource)) {
    return "a scalar register as a matrix operand";
  }
  // LLVM's printer notes most registers of a wrong kind, tuples that begin at an odd register, and
  // constants where none may be.
  if (encoded.text.find("/*Invalid") != std::string_view::npos || readsWrongFile(name, op)) {
    return "an operand that the instruction does not take";
  }
  if (isMatrix && hasMeaninglessControls(op)) {
    return "a format or a number of blocks that there is not";
  }
  if (isMatrix && overlapsAddend(op)) {
    return "a matrix result that overlaps its addend in part";
  }
  if (convertsToPackedFloats(name) && (op.clamp || op.omod != 0)) {
    return "clamp or omod on a conversion to packed floats";
  }
  if (op.kind == Kind::valu && readsTooManyScalars(op, encoded)) {
    return "more than one scalar register or literal as a vector operand";
  }
  return nullptr;
}

} // namespace kw::detail
