// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions over lanes. Every step exchanges with a partner group of the same size,
// so that all lanes end with the result:
//
//   groups of  2   quad_perm [1 0 3 2]        16  row_mirror
//              4   quad_perm [2 3 0 1]        32  v_permlane16_swap
//              8   row_half_mirror            64  v_permlane32_swap
//
// A mirror pairs lane i with the last minus i: within a half everything is equal already. With a
// stride only the steps above it are left; it is then 16 or 32, where the swaps keep lanes apart.

#include "codegen/passes/Constants.h"
#include "codegen/passes/Passes.h"
#include "ir/dialect/KwDialect.h"

#include <limits>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/Pass/Pass.h>

using namespace mlir;

namespace kw {
namespace {

struct DppStep {
  unsigned lanes;
  int control; ///< dpp_ctrl encoding [CDNA4 ISA, DPP]
};
constexpr DppStep dppSteps[] = {{2, 0xB1}, {4, 0x4E}, {8, 0x141}, {16, 0x140}};

class Reduction {
public:
  explicit Reduction(dialect::RowReduceOp op)
      : builder(op), loc(op.getLoc()), kind(op.getKind()), value(op.getValue()) {}

  Value run(unsigned lanes, unsigned stride) {
    for (const DppStep &step : dppSteps) {
      if (step.lanes <= lanes && stride < step.lanes) {
        value = combine(value, exchangeByDpp(step.control));
      }
    }
    if (lanes >= 32 && stride < 32) {
      exchangeBySwap<ROCDL::Permlane16SwapOp>();
    }
    if (lanes >= 64) {
      exchangeBySwap<ROCDL::Permlane32SwapOp>();
    }
    return value;
  }

private:
  Value combine(Value a, Value b) {
    if (kind == dialect::Reduction::add) {
      return LLVM::FAddOp::create(builder, loc, a, b);
    }
    return LLVM::MaxNumOp::create(builder, loc, a, b, LLVM::FastmathFlags::nnan);
  }

  /// LLVM fuses the move into the addition only over the operation's identity as old value.
  Value exchangeByDpp(int control) {
    const float identity =
        kind == dialect::Reduction::add ? 0.0f : -std::numeric_limits<float>::infinity();
    Value old = LLVM::ConstantOp::create(builder, loc, builder.getF32Type(),
                                         builder.getF32FloatAttr(identity));
    constexpr int allRowsOrBanks = 0xF;
    return ROCDL::DPPUpdateOp::create(builder, loc, value.getType(), old, value, control,
                                      allRowsOrBanks, allRowsOrBanks, /*boundCtrl=*/true);
  }

  /// Swapping a register's own halves with a copy leaves one half twice in each result.
  template <typename SwapOp> void exchangeBySwap() {
    Type i32 = builder.getI32Type();
    Type pair = LLVM::LLVMStructType::getLiteral(builder.getContext(), {i32, i32});
    Value bits = LLVM::BitcastOp::create(builder, loc, i32, value);
    Value swapped = SwapOp::create(builder, loc, pair, bits, bits, /*fi=*/false,
                                   /*boundControl=*/false);
    auto part = [&](std::int64_t position) -> Value {
      Value word = LLVM::ExtractValueOp::create(builder, loc, swapped, position);
      return LLVM::BitcastOp::create(builder, loc, value.getType(), word);
    };
    value = combine(part(0), part(1));
  }

  OpBuilder builder;
  Location loc;
  dialect::Reduction kind;
  Value value;
};

struct LowerReductionsPass : PassWrapper<LowerReductionsPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerReductionsPass)
  StringRef getArgument() const override { return "kw-lower-reductions"; }
  StringRef getDescription() const override { return "Lower reductions over lanes"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, ROCDL::ROCDLDialect>();
  }
  void runOnOperation() override {
    getOperation()->walk([](dialect::RowReduceOp op) {
      op.replaceAllUsesWith(Reduction(op).run(op.getLanes(), op.getStride()));
      op.erase();
    });
  }
};

} // namespace

std::unique_ptr<Pass> createLowerReductionsPass() {
  return std::make_unique<LowerReductionsPass>();
}

} // namespace kw
