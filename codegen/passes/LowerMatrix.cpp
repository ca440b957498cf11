// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kw.mfma becomes the rocdl operation of its shape and type.

#include "codegen/passes/Constants.h"
#include "codegen/passes/Passes.h"
#include "ir/dialect/KwDialect.h"

#include <llvm/ADT/TypeSwitch.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/Pass/Pass.h>
#include <optional>

using namespace mlir;

namespace kw {
namespace {

enum class Operand { f16, bf16, f32, i8 };

struct MatrixOperation {
  int m, n, k;
  Operand operand;
  llvm::StringLiteral name;
};

// A shape of another type is one more row; only its hardware decides whether LLVM can select it.
constexpr MatrixOperation matrixOperations[] = {
    {16, 16, 32, Operand::bf16, "rocdl.mfma.f32.16x16x32.bf16"},
    {16, 16, 32, Operand::f16, "rocdl.mfma.f32.16x16x32.f16"},
    {32, 32, 16, Operand::bf16, "rocdl.mfma.f32.32x32x16.bf16"},
    {32, 32, 16, Operand::f16, "rocdl.mfma.f32.32x32x16.f16"},
    {16, 16, 16, Operand::f16, "rocdl.mfma.f32.16x16x16f16"},
    {32, 32, 8, Operand::f16, "rocdl.mfma.f32.32x32x8f16"},
    {16, 16, 16, Operand::bf16, "rocdl.mfma.f32.16x16x16bf16.1k"},
    {32, 32, 8, Operand::bf16, "rocdl.mfma.f32.32x32x8bf16.1k"},
    {16, 16, 64, Operand::i8, "rocdl.mfma.i32.16x16x64.i8"},
    {32, 32, 32, Operand::i8, "rocdl.mfma.i32.32x32x32.i8"},
    {16, 16, 32, Operand::i8, "rocdl.mfma.i32.16x16x32.i8"},
    {32, 32, 16, Operand::i8, "rocdl.mfma.i32.32x32x16.i8"},
    {16, 16, 4, Operand::f32, "rocdl.mfma.f32.16x16x4f32"},
    {32, 32, 2, Operand::f32, "rocdl.mfma.f32.32x32x2f32"},
};

std::optional<Operand> operandOf(Type element) {
  if (element.isInteger(32)) {
    return Operand::i8;
  }
  return element.isF16()    ? std::optional(Operand::f16)
         : element.isBF16() ? std::optional(Operand::bf16)
         : element.isF32()  ? std::optional(Operand::f32)
                            : std::nullopt;
}

const MatrixOperation *find(dialect::MfmaOp op) {
  const ArrayRef<int32_t> shape = op.getShape();
  const auto operand = operandOf(cast<VectorType>(op.getA().getType()).getElementType());
  for (const MatrixOperation &candidate : matrixOperations) {
    if (operand == candidate.operand && shape[0] == candidate.m && shape[1] == candidate.n &&
        shape[2] == candidate.k) {
      return &candidate;
    }
  }
  return nullptr;
}

/// As the instruction takes it: one element as a scalar, two registers of 8-bit integers as i64,
/// bf16 of the older instructions as i16.
Value asOperand(OpBuilder &builder, Location loc, Value value, const MatrixOperation &operation) {
  auto type = cast<VectorType>(value.getType());
  if (type.getNumElements() == 1) {
    return LLVM::ExtractElementOp::create(builder, loc, value, i32Constant(builder, loc, 0));
  }
  if (operation.operand == Operand::i8 && type.getNumElements() == 2) {
    return LLVM::BitcastOp::create(builder, loc, builder.getI64Type(), value);
  }
  if (operation.name.ends_with(".1k")) {
    return LLVM::BitcastOp::create(builder, loc, type.clone(builder.getI16Type()), value);
  }
  return value;
}

LogicalResult lower(dialect::MfmaOp op) {
  const MatrixOperation *operation = find(op);
  if (!operation) {
    return op.emitOpError("no matrix instruction of this shape and type");
  }
  OpBuilder builder(op);
  const Location loc = op.getLoc();
  Value zero = i32Constant(builder, loc, 0); // cbsz, abid, blgp: no broadcast, no lane swizzle
  OperationState state(loc, operation->name);
  state.addOperands({asOperand(builder, loc, op.getA(), *operation),
                     asOperand(builder, loc, op.getB(), *operation), op.getAccumulator(), zero,
                     zero, zero});
  state.addTypes(op.getType());
  op.replaceAllUsesWith(builder.create(state)->getResult(0));
  op.erase();
  return success();
}

/// An empty assembly statement that takes a value and gives "something" in the same registers.
LogicalResult lower(dialect::PinAccumulatorOp op) {
  OpBuilder builder(op);
  auto pinned = LLVM::InlineAsmOp::create(builder, op.getLoc(), op.getType(), op.getValue(),
                                          "; accumulator", op.getAgpr() ? "=a,0" : "=v,0",
                                          /*has_side_effects=*/false, /*is_align_stack=*/false,
                                          LLVM::tailcallkind::TailCallKind::None,
                                          /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
  op.replaceAllUsesWith(pinned.getRes());
  op.erase();
  return success();
}

struct LowerMatrixPass : PassWrapper<LowerMatrixPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerMatrixPass)
  StringRef getArgument() const override { return "kw-lower-matrix"; }
  StringRef getDescription() const override { return "Lower matrix operations to rocdl"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, ROCDL::ROCDLDialect>();
  }
  void runOnOperation() override {
    WalkResult walked = getOperation()->walk([](Operation *op) {
      LogicalResult lowered = llvm::TypeSwitch<Operation *, LogicalResult>(op)
                                  .Case<dialect::MfmaOp, dialect::PinAccumulatorOp>(
                                      [](auto concrete) { return lower(concrete); })
                                  .Default([](Operation *) { return success(); });
      return failed(lowered) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (walked.wasInterrupted()) {
      signalPassFailure();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createLowerMatrixPass() { return std::make_unique<LowerMatrixPass>(); }

} // namespace kw
