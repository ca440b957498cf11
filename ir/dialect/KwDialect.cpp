// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ir/dialect/KwDialect.h"

#include <mlir/Dialect/LLVMIR/LLVMTypes.h>
#include <mlir/IR/Builders.h>
#include <mlir/IR/BuiltinTypes.h>

using namespace mlir;

namespace kw::dialect {

bool isPointer(Type type, unsigned space) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer && pointer.getAddressSpace() == space;
}

void KwDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ir/dialect/KwOps.cpp.inc"
      >();
}

static LogicalResult verifyFields(Operation *op, ArrayRef<int32_t> fields) {
  if (fields.size() % numbersPerField != 0) {
    return op->emitOpError("fields are triples (shift, width, factor)");
  }
  for (std::size_t i = 0; i < fields.size(); i += numbersPerField) {
    const int shift = fields[i];
    const int width = fields[i + 1];
    if (shift < 0 || width < 1 || shift + width > 32) {
      return op->emitOpError("field (") << shift << ", " << width << ") leaves the 32 bits";
    }
  }
  return success();
}

LogicalResult MapIndexOp::verify() {
  return failed(verifyFields(*this, getExclusive())) ? failure()
                                                     : verifyFields(*this, getAdditive());
}

LogicalResult TileOfOp::verify() {
  if (getTilesN() < 1 || getXcds() < 1) {
    return emitOpError("needs tilesN >= 1 and xcds >= 1");
  }
  return success();
}

LogicalResult CopyToLdsOp::verify() {
  const int bytes = getBytes();
  if (bytes != 4 && bytes != 12 && bytes != 16) {
    return emitOpError("moves 4, 12 or 16 bytes a lane, not ") << bytes;
  }
  return success();
}

static int64_t bitsOf(Type type) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    return vector.getNumElements() * vector.getElementTypeBitWidth();
  }
  return type.getIntOrFloatBitWidth();
}

LogicalResult ReadFragmentOp::verify() {
  constexpr int64_t transposedBits = 64;
  const auto reads = static_cast<int64_t>(getLanes().size());
  if (reads == 0 || reads != static_cast<int64_t>(getImmediates().size())) {
    return emitOpError("needs one immediate per lane offset");
  }
  const int64_t bits = bitsOf(getResult().getType());
  if (bits % reads != 0 || (getTranspose() && bits != reads * transposedBits)) {
    return emitOpError("joins ") << reads << " reads to " << bits / 8 << " bytes";
  }
  return success();
}

LogicalResult MfmaOp::verify() {
  constexpr int64_t waveSize = 64;
  if (getShape().size() != 3) {
    return emitOpError("shape is M, N, K");
  }
  const int64_t m = getShape()[0];
  const int64_t n = getShape()[1];
  const int64_t k = getShape()[2];
  // 8-bit integers go four to an i32.
  auto packed = [](Value value) {
    return cast<VectorType>(value.getType()).getElementType().isInteger(32) ? 4 : 1;
  };
  auto elements = [](Value value) { return cast<VectorType>(value.getType()).getNumElements(); };
  if (elements(getA()) * packed(getA()) * waveSize != m * k ||
      elements(getB()) * packed(getB()) * waveSize != n * k ||
      elements(getAccumulator()) * waveSize != m * n) {
    return emitOpError("operand sizes do not fit shape ") << m << "x" << n << "x" << k;
  }
  return success();
}

LogicalResult RowReduceOp::verify() {
  const unsigned lanes = getLanes();
  if (lanes < 2 || lanes > 64 || (lanes & (lanes - 1)) != 0) {
    return emitOpError("lanes must be 2, 4, 8, 16, 32 or 64, not ") << lanes;
  }
  const unsigned stride = getStride();
  if ((stride != 1 && stride != 16 && stride != 32) || stride >= lanes) {
    return emitOpError("stride must be 1, 16 or 32 and below ") << lanes << ", not " << stride;
  }
  return success();
}

LogicalResult WaitOp::verify() {
  const int vector = getVector();
  const int lds = getLds();
  if (vector < -1 || vector > 63 || lds < -1 || lds > 15) {
    return emitOpError("counters reach vector 63 and lds 15");
  }
  return success();
}

} // namespace kw::dialect

#include "ir/dialect/KwDialect.cpp.inc"
#include "ir/dialect/KwEnums.cpp.inc"

#define GET_OP_CLASSES
#include "ir/dialect/KwOps.cpp.inc"
