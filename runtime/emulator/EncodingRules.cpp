// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/EncodingRules.h"

#include <algorithm>
#include <set>

namespace kw::detail {

namespace {

bool isScalarSource(const Operand &operand) {
  // SCC, VCCZ, EXECZ and the apertures come the same way as scalar registers.
  return operand.file == File::scalar || operand.file == File::special;
}

/// VOP1, VOP2 and VOPC begin with a 0 bit; a second dword that is neither DPP nor SDWA is a
/// literal.
bool hasLiteral(const Op &op, std::uint32_t first, unsigned bytes) {
  return first >> 31 == 0 && bytes == 8 && op.form == Form::plain;
}

/// VALU: one scalar register (any number of times, VCC of carries and v_cndmask included), or one
/// literal. [ISA, 6.2.1]
bool readsTooManyScalars(const Op &op, std::uint32_t first, unsigned bytes) {
  std::set<int> scalars;
  for (int i = 0; i < op.sourceCount; ++i) {
    if (isScalarSource(op.source[i])) {
      scalars.insert(op.source[i].reg);
    }
  }
  return scalars.size() + (hasLiteral(op, first, bytes) ? 1 : 0) > 1;
}

/// Tuples of vector registers begin at an even one. [LLVM: FeatureRequiresAlignedVGPRs]
bool isMisaligned(const OpcodeName &name, const Op &op) {
  if (name.base == "DS_READ_B96_TR_B6") {
    return false;
  }
  const auto odd = [](const Operand &operand) {
    return operand.file == File::vector && operand.words > 1 && operand.reg % 2 != 0;
  };
  return std::any_of(op.source.begin(), op.source.end(), odd) ||
         std::any_of(op.result.begin(), op.result.end(), odd);
}

bool convertsToPackedFloats(const OpcodeName &name) {
  return name.base == "V_CVT_PK_BF16_F32" || name.base == "V_CVT_PK_F16_F32" ||
         name.base == "V_CVT_PKRTZ_F16_F32";
}

} // namespace

const char *invalidEncoding(const OpcodeName &name, const Op &op, std::uint32_t first,
                            unsigned bytes) {
  if (op.kind == Kind::mfma &&
      std::any_of(op.source.begin(), op.source.begin() + 3, isScalarSource)) {
    return "a scalar register as a matrix operand";
  }
  if (convertsToPackedFloats(name) && (op.clamp || op.omod != 0)) {
    return "clamp or omod on a conversion to packed floats";
  }
  if (op.kind == Kind::valu && readsTooManyScalars(op, first, bytes)) {
    return "more than one scalar register or literal as a vector operand";
  }
  if (isMisaligned(name, op)) {
    return "a tuple of vector registers that begins at an odd one";
  }
  return nullptr;
}

} // namespace kw::detail
