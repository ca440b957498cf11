// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waits and barriers. `gpu.barrier` and fences would drain every load to LDS, so the bare
// instructions are written and the plan says what to wait for.

#include "codegen/passes/Passes.h"
#include "ir/dialect/KwDialect.h"

#include <llvm/ADT/TypeSwitch.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/Pass/Pass.h>

using namespace mlir;

namespace kw {
namespace {

constexpr int maxVmcnt = 63;
constexpr int maxLgkmcnt = 15;
constexpr int maxExpcnt = 7;

/// Field of s_waitcnt on gfx9: vmcnt in bits 0-3 and 14-15, expcnt 4-6, lgkmcnt 8-11.
int waitcntBits(int vmcnt, int lgkmcnt) {
  return (vmcnt & 15) | (vmcnt >> 4) << 14 | maxExpcnt << 4 | lgkmcnt << 8;
}

void lower(dialect::WaitOp op) {
  OpBuilder builder(op);
  const int vector = static_cast<int>(op.getVector());
  const int lds = static_cast<int>(op.getLds());
  if (vector >= 0 || lds >= 0) {
    ROCDL::SWaitcntOp::create(
        builder, op.getLoc(),
        waitcntBits(vector < 0 ? maxVmcnt : vector, lds < 0 ? maxLgkmcnt : lds));
  }
  op.erase();
}

void lower(dialect::BarrierOp op) {
  OpBuilder builder(op);
  ROCDL::SBarrierOp::create(builder, op.getLoc());
  op.erase();
}

struct LowerSyncPass : PassWrapper<LowerSyncPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerSyncPass)
  StringRef getArgument() const override { return "kw-lower-sync"; }
  StringRef getDescription() const override { return "Lower waits and barriers"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<ROCDL::ROCDLDialect>();
  }
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op).Case<dialect::WaitOp, dialect::BarrierOp>(
          [](auto concrete) { lower(concrete); });
    });
  }
};

} // namespace

std::unique_ptr<Pass> createLowerSyncPass() { return std::make_unique<LowerSyncPass>(); }

} // namespace kw
