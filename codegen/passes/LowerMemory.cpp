// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tile moves become buffer and LDS accesses. Waits for LDS reads are left to LLVM, which counts
// them exactly; loads to LDS are known to it because each stage is a global of its own.

#include "codegen/passes/Constants.h"
#include "codegen/passes/Passes.h"
#include "ir/dialect/KwDialect.h"

#include <algorithm>
#include <bit>
#include <llvm/ADT/TypeSwitch.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/Pass/Pass.h>
#include <numeric>

using namespace mlir;

namespace kw {
namespace {

std::int64_t bytesOf(Type type) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    return vector.getNumElements() * vector.getElementTypeBitWidth() / 8;
  }
  return type.getIntOrFloatBitWidth() / 8;
}

/// Layouts keep every access naturally aligned up to 16 bytes. Saying so is what makes LLVM use
/// single ds_read_b128 and ds_write_b128.
unsigned ldsAlignment(Type type) {
  const auto bytes = static_cast<unsigned>(bytesOf(type));
  return std::min(16u, 1u << std::countr_zero(bytes));
}

void lower(dialect::LoadOp op) {
  OpBuilder builder(op);
  const Location loc = op.getLoc();
  Value offset = addConstant(builder, loc, op.getLane(), op.getImmediate());
  Value loaded = ROCDL::RawPtrBufferLoadOp::create(
      builder, loc, op.getType(), op.getBuffer(), offset, op.getScalar(),
      i32Constant(builder, loc, op.getAux()), ArrayAttr(), ArrayAttr(), ArrayAttr());
  op.replaceAllUsesWith(loaded);
  op.erase();
}

void lower(dialect::StoreOp op) {
  OpBuilder builder(op);
  const Location loc = op.getLoc();
  Value offset = addConstant(builder, loc, op.getLane(), op.getImmediate());
  ROCDL::RawPtrBufferStoreOp::create(builder, loc, op.getValue(), op.getBuffer(), offset,
                                     op.getScalar(), i32Constant(builder, loc, op.getAux()),
                                     ArrayAttr(), ArrayAttr(), ArrayAttr());
  op.erase();
}

void lower(dialect::CopyToLdsOp op) {
  OpBuilder builder(op);
  const Location loc = op.getLoc();
  Value offset = addConstant(builder, loc, op.getLane(), op.getImmediate());
  // The instruction's own offset would move the global address as well, so the LDS part goes into
  // the pointer, hence into M0.
  Value target = bytePointer(builder, loc, op.getLds(),
                             addConstant(builder, loc, op.getWave(), op.getLdsImmediate()));
  ROCDL::RawPtrBufferLoadLdsOp::create(
      builder, loc, op.getBuffer(), target, i32Constant(builder, loc, op.getBytes()), offset,
      op.getScalar(), i32Constant(builder, loc, 0), i32Constant(builder, loc, op.getAux()),
      ArrayAttr(), ArrayAttr(), ArrayAttr());
  op.erase();
}

void lower(dialect::StoreLdsOp op) {
  OpBuilder builder(op);
  const Location loc = op.getLoc();
  Value target = bytePointer(builder, loc, op.getLds(),
                             addConstant(builder, loc, op.getLane(), op.getImmediate()));
  LLVM::StoreOp::create(builder, loc, op.getValue(), target, ldsAlignment(op.getValue().getType()));
  op.erase();
}

Value join(OpBuilder &builder, Location loc, Value first, Value second) {
  const auto have = cast<VectorType>(first.getType()).getNumElements();
  const auto more = cast<VectorType>(second.getType()).getNumElements();
  SmallVector<int32_t> mask(have + more);
  std::iota(mask.begin(), mask.end(), 0);
  return LLVM::ShuffleVectorOp::create(builder, loc, first, second, mask);
}

Value readPart(OpBuilder &builder, dialect::ReadFragmentOp op, Type type, std::size_t part) {
  const Location loc = op.getLoc();
  Value source =
      bytePointer(builder, loc, op.getLds(),
                  addConstant(builder, loc, op.getLanes()[part], op.getImmediates()[part]));
  if (op.getTranspose() && cast<VectorType>(type).getElementType().isInteger(32)) {
    return ROCDL::ds_read_tr8_b64::create(builder, loc, type, source, ArrayAttr(), ArrayAttr(),
                                          ArrayAttr());
  }
  if (op.getTranspose()) {
    return ROCDL::ds_read_tr16_b64::create(builder, loc, type, source, ArrayAttr(), ArrayAttr(),
                                           ArrayAttr());
  }
  return LLVM::LoadOp::create(builder, loc, type, source, ldsAlignment(type));
}

void lower(dialect::ReadFragmentOp op) {
  OpBuilder builder(op);
  const std::size_t parts = op.getLanes().size();
  Type type = op.getType();
  if (parts > 1) {
    auto whole = cast<VectorType>(type);
    type = VectorType::get({whole.getNumElements() / static_cast<std::int64_t>(parts)},
                           whole.getElementType());
  }
  SmallVector<Value> values;
  for (std::size_t part = 0; part < parts; ++part) {
    values.push_back(readPart(builder, op, type, part));
  }
  // Neighbours are joined pairwise: 2, 4, ... parts.
  while (values.size() > 1) {
    SmallVector<Value> joined;
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
      joined.push_back(join(builder, op.getLoc(), values[i], values[i + 1]));
    }
    values = std::move(joined);
  }
  op.replaceAllUsesWith(values.front());
  op.erase();
}

struct LowerMemoryPass : PassWrapper<LowerMemoryPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerMemoryPass)
  StringRef getArgument() const override { return "kw-lower-memory"; }
  StringRef getDescription() const override {
    return "Lower tile moves to buffer and LDS accesses";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, ROCDL::ROCDLDialect>();
  }
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<dialect::LoadOp, dialect::StoreOp, dialect::CopyToLdsOp, dialect::StoreLdsOp,
                dialect::ReadFragmentOp>([](auto concrete) { lower(concrete); });
    });
  }
};

} // namespace

std::unique_ptr<Pass> createLowerMemoryPass() { return std::make_unique<LowerMemoryPass>(); }

} // namespace kw
