// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's scheduler would undo the plan's order: it hoists loads and batches matrix instructions. A
// `rocdl.sched.barrier 0` after every slot makes the emitted order the written one.

#include "codegen/passes/Passes.h"
#include "ir/dialect/KwDialect.h"

#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/Pass/Pass.h>

using namespace mlir;

namespace kw {
namespace {

constexpr llvm::StringLiteral pinOrderAttribute = "kw.pin_order";

/// Stores of results are left out: between them LLVM must be free to read accumulators one by one,
/// else it copies all AGPRs first and spills.
bool isSlot(Operation *op) {
  return isa<dialect::LoadOp, dialect::CopyToLdsOp, dialect::StoreLdsOp, dialect::ReadFragmentOp,
             dialect::MfmaOp, dialect::WaitOp, dialect::BarrierOp, dialect::ArriveOp,
             ROCDL::SetPrioOp>(op);
}

void pinOrder(LLVM::LLVMFuncOp function) {
  function.walk([](Operation *op) {
    if (isSlot(op)) {
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      ROCDL::SchedBarrier::create(builder, op->getLoc(), /*mask=*/0);
    }
  });
  function->removeAttr(pinOrderAttribute);
}

struct PinOrderPass : PassWrapper<PinOrderPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PinOrderPass)
  StringRef getArgument() const override { return "kw-pin-order"; }
  StringRef getDescription() const override { return "Keep the planned order of tile operations"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<ROCDL::ROCDLDialect>();
  }
  void runOnOperation() override {
    getOperation()->walk([](LLVM::LLVMFuncOp function) {
      if (function->hasAttr(pinOrderAttribute)) {
        pinOrder(function);
      }
    });
  }
};

} // namespace

std::unique_ptr<Pass> createPinOrderPass() { return std::make_unique<PinOrderPass>(); }

} // namespace kw
