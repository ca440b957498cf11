// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomics and what makes one workgroup's stores visible to another. XCDs have an L2 each that don't
// see one another's writes: LLVM's fences of scope "agent" write back and invalidate what is
// needed.

#include "codegen/passes/Constants.h"
#include "codegen/passes/Passes.h"
#include "ir/dialect/KwDialect.h"

#include <llvm/ADT/TypeSwitch.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/Pass/Pass.h>

using namespace mlir;

namespace kw {
namespace {

constexpr llvm::StringLiteral agent = "agent";

/// An atomic of a lane that is outside of the buffer does nothing and gives 0.
void lower(dialect::ArriveOp op) {
  OpBuilder builder(op);
  const Location loc = op.getLoc();
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::release, agent);
  Value one = i32Constant(builder, loc, 1), zero = i32Constant(builder, loc, 0);
  auto before =
      LLVM::CallIntrinsicOp::create(builder, loc, builder.getI32Type(),
                                    builder.getStringAttr("llvm.amdgcn.raw.ptr.buffer.atomic.add"),
                                    ValueRange{one, op.getBuffer(), op.getLane(), zero, zero});
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::acquire, agent);
  Value uniform =
      ROCDL::ReadfirstlaneOp::create(builder, loc, builder.getI32Type(), before.getResult(0));
  op.replaceAllUsesWith(uniform);
  op.erase();
}

void lower(dialect::AtomicAddOp op) {
  OpBuilder builder(op);
  const Location loc = op.getLoc();
  Value offset = addConstant(builder, loc, op.getLane(), op.getImmediate());
  ROCDL::RawPtrBufferAtomicFaddOp::create(builder, loc, op.getValue(), op.getBuffer(), offset,
                                          op.getScalar(), i32Constant(builder, loc, 0), ArrayAttr(),
                                          ArrayAttr(), ArrayAttr());
  op.erase();
}

struct LowerAtomicsPass : PassWrapper<LowerAtomicsPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerAtomicsPass)
  StringRef getArgument() const override { return "kw-lower-atomics"; }
  StringRef getDescription() const override { return "Lower atomics and arrivals"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, ROCDL::ROCDLDialect>();
  }
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op).Case<dialect::ArriveOp, dialect::AtomicAddOp>(
          [](auto concrete) { lower(concrete); });
    });
  }
};

} // namespace

std::unique_ptr<Pass> createLowerAtomicsPass() { return std::make_unique<LowerAtomicsPass>(); }

} // namespace kw
