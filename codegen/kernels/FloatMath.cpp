// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/FloatMath.h"

#include "ir/dialect/KwDialect.h"

using namespace mlir;

namespace kw {

namespace {
constexpr int waveSize = 64;
} // namespace

Value FloatMath::add(Value a, Value b) {
  return LLVM::FAddOp::create(tiles.builder, tiles.loc, a, b);
}
Value FloatMath::sub(Value a, Value b) {
  return LLVM::FSubOp::create(tiles.builder, tiles.loc, a, b);
}
Value FloatMath::mul(Value a, Value b) {
  return LLVM::FMulOp::create(tiles.builder, tiles.loc, a, b);
}
Value FloatMath::fma(Value a, Value b, Value c) {
  return LLVM::FMAOp::create(tiles.builder, tiles.loc, a, b, c);
}
Value FloatMath::negate(Value a) { return LLVM::FNegOp::create(tiles.builder, tiles.loc, a); }

Value FloatMath::maximum(Value a, Value b) {
  return LLVM::MaxNumOp::create(tiles.builder, tiles.loc, a, b, LLVM::FastmathFlags::nnan);
}

Value FloatMath::intrinsic(llvm::StringRef name, Value a) {
  return LLVM::CallIntrinsicOp::create(tiles.builder, tiles.loc, a.getType(),
                                       tiles.builder.getStringAttr(name), ValueRange{a})
      .getResult(0);
}
Value FloatMath::exp2(Value a) { return intrinsic("llvm.amdgcn.exp2.f32", a); }
Value FloatMath::log2(Value a) { return intrinsic("llvm.amdgcn.log.f32", a); }
Value FloatMath::reciprocal(Value a) { return intrinsic("llvm.amdgcn.rcp.f32", a); }

Value FloatMath::reciprocalOrZero(Value a) {
  Value zero = tiles.floatConstant(0);
  Value isZero = LLVM::FCmpOp::create(tiles.builder, tiles.loc, LLVM::FCmpPredicate::oeq, a, zero);
  return tiles.select(isZero, zero, reciprocal(a));
}

Value FloatMath::acrossLanes(bool isMaximum, int stride, Value value) {
  return dialect::RowReduceOp::create(tiles.builder, tiles.loc, tiles.builder.getF32Type(),
                                      isMaximum ? dialect::Reduction::max : dialect::Reduction::add,
                                      waveSize, value, stride);
}

Value FloatMath::element(Value vector, int index) {
  return LLVM::ExtractElementOp::create(tiles.builder, tiles.loc, vector, tiles.constant(index));
}

Value FloatMath::vector(ArrayRef<Value> elements) {
  Value result = LLVM::UndefOp::create(
      tiles.builder, tiles.loc,
      tiles.vectorType(static_cast<std::int64_t>(elements.size()), elements.front().getType()));
  for (auto [index, value] : llvm::enumerate(elements)) {
    result = LLVM::InsertElementOp::create(tiles.builder, tiles.loc, result, value,
                                           tiles.constant(static_cast<std::int64_t>(index)));
  }
  return result;
}

Value FloatMath::splat(Value scalar, int count) {
  return vector(SmallVector<Value>(static_cast<std::size_t>(count), scalar));
}

Value FloatMath::part(Value vector, int first, int count) {
  SmallVector<std::int32_t> mask;
  for (int i = 0; i < count; ++i) {
    mask.push_back(first + i);
  }
  return LLVM::ShuffleVectorOp::create(tiles.builder, tiles.loc, vector, vector, mask);
}

Value FloatMath::round(Value vector, ElementType type) {
  if (type == ElementType::f32) {
    return vector;
  }
  const auto count = cast<VectorType>(vector.getType()).getNumElements();
  return LLVM::FPTruncOp::create(tiles.builder, tiles.loc,
                                 tiles.vectorType(count, tiles.elementType(type)), vector);
}

Value FloatMath::bits(Value vector, int bytes) {
  return LLVM::BitcastOp::create(tiles.builder, tiles.loc, tiles.bitsType(bytes), vector);
}

} // namespace kw
