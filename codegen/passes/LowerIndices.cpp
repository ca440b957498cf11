// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Indices and addresses become integer arithmetic on the ids that hardware provides.

#include "codegen/passes/Constants.h"
#include "codegen/passes/Passes.h"
#include "ir/dialect/KwDialect.h"

#include <llvm/ADT/TypeSwitch.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/Pass/Pass.h>

using namespace mlir;

namespace kw {
namespace {

/// Word 3 of a raw buffer resource on gfx9: 32-bit data format, no swizzle. [gfx950.md 4.4]
constexpr int rawBufferFlags = 0x27000;
constexpr int log2WaveSize = 6;

/// Integer expressions on i32 values, as short as in the formulas they implement.
class Arithmetic {
public:
  explicit Arithmetic(Operation *op) : builder(op), loc(op->getLoc()) {}

  Value constant(std::int64_t value) { return i32Constant(builder, loc, value); }
  Value add(Value a, Value b) { return LLVM::AddOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) { return LLVM::SubOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) { return LLVM::MulOp::create(builder, loc, a, b); }
  Value div(Value a, Value b) { return LLVM::UDivOp::create(builder, loc, a, b); }
  Value rem(Value a, Value b) { return LLVM::URemOp::create(builder, loc, a, b); }
  Value min(Value a, Value b) { return LLVM::UMinOp::create(builder, loc, a, b); }
  Value exclusiveOr(Value a, Value b) { return LLVM::XOrOp::create(builder, loc, a, b); }
  Value shiftRight(Value a, int bits) {
    return bits == 0 ? a : LLVM::LShrOp::create(builder, loc, a, constant(bits)).getResult();
  }
  Value mask(Value a, int bits) {
    return bits >= 32 ? a
                      : LLVM::AndOp::create(builder, loc, a, constant((1ll << bits) - 1)).getRes();
  }

  OpBuilder builder;
  Location loc;
};

void replace(Operation *op, ValueRange values) {
  op->replaceAllUsesWith(values);
  op->erase();
}

Value field(Arithmetic &math, Value index, ArrayRef<int32_t> numbers) {
  Value bits = math.mask(math.shiftRight(index, numbers[0]), numbers[1]);
  return numbers[2] == 1 ? bits : math.mul(bits, math.constant(numbers[2]));
}

void lower(dialect::MapIndexOp op) {
  Arithmetic math(op);
  constexpr std::size_t step = dialect::numbersPerField;
  Value exclusive;
  for (std::size_t i = 0; i < op.getExclusive().size(); i += step) {
    Value next = field(math, op.getIndex(), op.getExclusive().slice(i, step));
    exclusive = exclusive ? math.exclusiveOr(exclusive, next) : next;
  }
  Value sum = math.constant(op.getExclusiveBase());
  sum = exclusive ? math.exclusiveOr(exclusive, sum) : sum;
  for (std::size_t i = 0; i < op.getAdditive().size(); i += step) {
    sum = math.add(sum, field(math, op.getIndex(), op.getAdditive().slice(i, step)));
  }
  replace(op, math.add(sum, math.constant(op.getBase())));
}

/// LLVM may keep a uniform value in a VGPR (a counter that begins with the same 0 as accumulators
/// do), and copies such a one to the asm's SGPR illegally; of a scalar nothing is read.
void lower(dialect::PinScalarOp op) {
  OpBuilder builder(op);
  Value scalar = ROCDL::ReadfirstlaneOp::create(builder, op.getLoc(), op.getType(), op.getValue());
  auto pinned = LLVM::InlineAsmOp::create(
      builder, op.getLoc(), op.getType(), scalar, "; scalar", "=s,0",
      /*has_side_effects=*/false, /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
  replace(op, pinned->getResults());
}

void lower(dialect::LaneIndexOp op) {
  OpBuilder builder(op);
  replace(op, ROCDL::ThreadIdXOp::create(builder, op.getLoc(), builder.getI32Type())->getResults());
}

void lower(dialect::WaveIndexOp op) {
  Arithmetic math(op);
  if (op.getWaves() == 1) {
    replace(op, math.constant(0));
    return;
  }
  Value workItem = ROCDL::ThreadIdXOp::create(math.builder, math.loc, math.builder.getI32Type());
  Value wave = math.shiftRight(workItem, log2WaveSize);
  replace(
      op,
      ROCDL::ReadfirstlaneOp::create(math.builder, math.loc, wave.getType(), wave)->getResults());
}

/// ir/WorkgroupMapping.h remapXcd: XCD x owns x * count + min(x, rest) and what follows.
Value remapXcd(Arithmetic &math, Value workgroup, Value total, int xcds) {
  if (xcds == 1) {
    return workgroup;
  }
  Value count = math.div(total, math.constant(xcds));
  Value rest = math.rem(total, math.constant(xcds));
  Value xcd = math.rem(workgroup, math.constant(xcds));
  Value within = math.div(workgroup, math.constant(xcds));
  return math.add(math.add(math.mul(xcd, count), math.min(xcd, rest)), within);
}

/// ir/WorkgroupMapping.h groupedTile.
std::pair<Value, Value> groupedTile(Arithmetic &math, Value position, Value tilesM, int tilesN,
                                    int groupM) {
  if (groupM == 0 || tilesN == 1) {
    return {math.div(position, math.constant(tilesN)), math.rem(position, math.constant(tilesN))};
  }
  Value perGroup = math.constant(static_cast<std::int64_t>(groupM) * tilesN);
  Value firstM = math.mul(math.div(position, perGroup), math.constant(groupM));
  Value rows = math.min(math.sub(tilesM, firstM), math.constant(groupM));
  Value within = math.rem(position, perGroup);
  Value column = math.div(within, rows);
  return {math.add(firstM, math.sub(within, math.mul(column, rows))), column};
}

/// LLVM divides on the vector ALU; a tile is uniform and addresses want scalars.
Value uniform(Arithmetic &math, Value value) {
  return ROCDL::ReadfirstlaneOp::create(math.builder, math.loc, value.getType(), value);
}

void lower(dialect::TileOfOp op) {
  Arithmetic math(op);
  Value splits = math.constant(op.getSplits());
  Value total =
      math.mul(op.getTilesM(), math.constant(std::int64_t{op.getTilesN()} * op.getSplits()));
  Value position = remapXcd(math, op.getWorkgroup(), total, op.getXcds());
  if (op.getSplits() > 1) {
    position = math.div(position, splits);
  }
  auto [m, n] = groupedTile(math, position, op.getTilesM(), op.getTilesN(), op.getGroupM());
  replace(op, {uniform(math, m), uniform(math, n)});
}

/// The arithmetic that it shares with tile_of is made once by LLVM.
void lower(dialect::SplitOfOp op) {
  Arithmetic math(op);
  Value total =
      math.mul(op.getTilesM(), math.constant(std::int64_t{op.getTilesN()} * op.getSplits()));
  Value position = remapXcd(math, op.getWorkgroup(), total, op.getXcds());
  replace(op, {uniform(math, math.rem(position, math.constant(op.getSplits())))});
}

void lower(dialect::BufferOp op) {
  Arithmetic math(op);
  OpBuilder &builder = math.builder;
  Value stride = LLVM::ConstantOp::create(builder, math.loc, builder.getI16Type(),
                                          builder.getI16IntegerAttr(0));
  Value bytes = LLVM::ZExtOp::create(builder, math.loc, builder.getI64Type(), op.getBytes());
  replace(op, ROCDL::MakeBufferRsrcOp::create(builder, math.loc, op.getType(), op.getBase(), stride,
                                              bytes, math.constant(rawBufferFlags))
                  ->getResults());
}

struct LowerIndicesPass : PassWrapper<LowerIndicesPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerIndicesPass)
  StringRef getArgument() const override { return "kw-lower-indices"; }
  StringRef getDescription() const override { return "Lower indices and addresses to arithmetic"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, ROCDL::ROCDLDialect>();
  }
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<dialect::MapIndexOp, dialect::PinScalarOp, dialect::LaneIndexOp,
                dialect::WaveIndexOp, dialect::TileOfOp, dialect::SplitOfOp, dialect::BufferOp>(
              [](auto concrete) { lower(concrete); });
    });
  }
};

} // namespace

std::unique_ptr<Pass> createLowerIndicesPass() { return std::make_unique<LowerIndicesPass>(); }

} // namespace kw
