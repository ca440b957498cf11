// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/TileBuilder.h"

#include "codegen/passes/Constants.h"
#include "ir/dialect/KwDialect.h"

#include <cassert>
#include <fmt/format.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <numeric>

using namespace mlir;

namespace kw {

Value TileBuilder::constant(std::int64_t value) { return i32Constant(builder, loc, value); }

Value TileBuilder::wideConstant(std::int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                  builder.getI64IntegerAttr(value));
}

Value TileBuilder::floatConstant(double value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getF32Type(),
                                  builder.getF32FloatAttr(static_cast<float>(value)));
}

Value TileBuilder::add(Value a, Value b) { return LLVM::AddOp::create(builder, loc, a, b); }

Value TileBuilder::add(Value a, std::int64_t b) { return addConstant(builder, loc, a, b); }

Value TileBuilder::sub(Value a, Value b) { return LLVM::SubOp::create(builder, loc, a, b); }

Value TileBuilder::mul(Value a, Value b) { return LLVM::MulOp::create(builder, loc, a, b); }

Value TileBuilder::mul(Value a, std::int64_t b) {
  return b == 1 ? a : mul(a, a.getType().isInteger(64) ? wideConstant(b) : constant(b));
}

Value TileBuilder::div(Value a, std::int64_t b) {
  return b == 1 ? a : LLVM::UDivOp::create(builder, loc, a, constant(b)).getResult();
}

Value TileBuilder::rem(Value a, std::int64_t b) {
  return LLVM::URemOp::create(builder, loc, a, constant(b));
}

Value TileBuilder::uniformQuotient(Value a, Value b) {
  Value quotient = LLVM::UDivOp::create(builder, loc, a, b);
  return ROCDL::ReadfirstlaneOp::create(builder, loc, quotient.getType(), quotient);
}

Value TileBuilder::again(Value value, llvm::StringRef registers) {
  const std::string constraints = fmt::format("={},0", registers);
  return LLVM::InlineAsmOp::create(builder, loc, value.getType(), value, "; again", constraints,
                                   /*has_side_effects=*/true, /*is_align_stack=*/false,
                                   LLVM::tailcallkind::TailCallKind::None,
                                   /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr)
      .getRes();
}

Value TileBuilder::shiftRight(Value a, int bits) {
  return LLVM::LShrOp::create(builder, loc, a, constant(bits));
}

Value TileBuilder::exclusiveOr(Value a, Value b) { return LLVM::XOrOp::create(builder, loc, a, b); }

Value TileBuilder::umin(Value a, Value b) { return LLVM::UMinOp::create(builder, loc, a, b); }

Value TileBuilder::lessThan(Value a, Value b) {
  return LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ult, a, b);
}

Value TileBuilder::select(Value condition, Value a, Value b) {
  return LLVM::SelectOp::create(builder, loc, condition, a, b);
}

Value TileBuilder::widen(Value value) {
  return value.getType().isInteger(64)
             ? value
             : LLVM::ZExtOp::create(builder, loc, builder.getI64Type(), value).getResult();
}

Value TileBuilder::narrow(Value value) {
  return value.getType().isInteger(32)
             ? value
             : LLVM::TruncOp::create(builder, loc, builder.getI32Type(), value).getResult();
}

Value TileBuilder::advance(Value pointer, Value bytes) {
  return bytePointer(builder, loc, pointer, bytes);
}

static SmallVector<std::int32_t> numbers(const std::vector<BitField> &fields) {
  SmallVector<std::int32_t> result;
  for (const BitField &field : fields) {
    result.append({field.shift, field.width, field.factor});
  }
  return result;
}

Value TileBuilder::map(Value index, const IndexMap &map) {
  return dialect::MapIndexOp::create(builder, loc, builder.getI32Type(), index, map.base,
                                     numbers(map.additive), map.exclusiveBase,
                                     numbers(map.exclusive));
}

Block *TileBuilder::blockBehind() {
  OpBuilder::InsertionGuard guard(builder);
  mlir::Region *region = builder.getInsertionBlock()->getParent();
  return builder.createBlock(region, region->end());
}

Value TileBuilder::pinScalar(Value value) {
  return dialect::PinScalarOp::create(builder, loc, builder.getI32Type(), value);
}

Value TileBuilder::laneIndex(int workItems) {
  return dialect::LaneIndexOp::create(builder, loc, builder.getI32Type(), workItems);
}

Value TileBuilder::waveIndex(int waves) {
  return dialect::WaveIndexOp::create(builder, loc, builder.getI32Type(), waves);
}

Value TileBuilder::workgroupIndex() {
  return ROCDL::BlockIdXOp::create(builder, loc, builder.getI32Type());
}

Value TileBuilder::batchIndex() {
  return ROCDL::BlockIdYOp::create(builder, loc, builder.getI32Type());
}

std::pair<Value, Value> TileBuilder::tileOf(Value workgroup, Value tilesM, std::int64_t tilesN,
                                            int xcds, int groupM, int splits) {
  auto tile =
      dialect::TileOfOp::create(builder, loc, builder.getI32Type(), builder.getI32Type(), workgroup,
                                tilesM, static_cast<std::int32_t>(tilesN), xcds, groupM, splits);
  return {tile.getM(), tile.getN()};
}

Value TileBuilder::splitOf(Value workgroup, Value tilesM, std::int64_t tilesN, int xcds,
                           int splits) {
  return dialect::SplitOfOp::create(builder, loc, builder.getI32Type(), workgroup, tilesM,
                                    static_cast<std::int32_t>(tilesN), xcds, splits);
}

Value TileBuilder::buffer(Value base, Value bytes) {
  constexpr unsigned bufferAddressSpace = 8;
  return dialect::BufferOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), bufferAddressSpace), base,
      bytes);
}

Value TileBuilder::load(Type type, const GlobalAddress &address) {
  return dialect::LoadOp::create(builder, loc, type, address.buffer, address.lane, address.scalar,
                                 address.immediate);
}

void TileBuilder::store(Value value, const GlobalAddress &address) {
  dialect::StoreOp::create(builder, loc, value, address.buffer, address.lane, address.scalar,
                           address.immediate);
}

void TileBuilder::atomicAdd(Value value, const GlobalAddress &address) {
  dialect::AtomicAddOp::create(builder, loc, value, address.buffer, address.lane, address.scalar,
                               address.immediate);
}

Value TileBuilder::arrive(Value buffer, Value lane) {
  return dialect::ArriveOp::create(builder, loc, builder.getI32Type(), buffer, lane);
}

Value TileBuilder::join(Value first, Value second) {
  const auto count = cast<VectorType>(first.getType()).getNumElements() +
                     cast<VectorType>(second.getType()).getNumElements();
  SmallVector<std::int32_t> mask(static_cast<std::size_t>(count));
  std::iota(mask.begin(), mask.end(), 0);
  return LLVM::ShuffleVectorOp::create(builder, loc, first, second, mask);
}

void TileBuilder::copyToLds(const GlobalAddress &source, Value lds, Value wave,
                            std::int32_t immediate, int bytes) {
  dialect::CopyToLdsOp::create(builder, loc, source.buffer, source.lane, source.scalar,
                               source.immediate, lds, wave, immediate, bytes);
}

void TileBuilder::storeLds(Value value, Value lds, Value lane, std::int32_t immediate) {
  dialect::StoreLdsOp::create(builder, loc, value, lds, lane, immediate);
}

Value TileBuilder::readLds(Type type, Value lds, ValueRange lanes,
                           ArrayRef<std::int32_t> immediates, bool transpose) {
  return dialect::ReadFragmentOp::create(builder, loc, type, lds, lanes, immediates, transpose);
}

Value TileBuilder::mfma(ArrayRef<std::int32_t> shape, Value a, Value b, Value accumulator) {
  return dialect::MfmaOp::create(builder, loc, accumulator.getType(), shape, a, b, accumulator);
}

Value TileBuilder::pinAccumulator(Value value, bool agpr) {
  return dialect::PinAccumulatorOp::create(builder, loc, value.getType(), agpr, value);
}

void TileBuilder::keep(Value value) {
  Value bits = LLVM::BitcastOp::create(builder, loc, bitsType(16), value);
  LLVM::InlineAsmOp::create(builder, loc, TypeRange{}, bits, "; keep", "v",
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::tailcallkind::TailCallKind::None,
                            /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
}

std::pair<Value, Value> TileBuilder::exchangeHalves(Value a, Value b, int lanes) {
  Type pair = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                               {builder.getI32Type(), builder.getI32Type()});
  Value both;
  if (lanes == 16) {
    both = ROCDL::Permlane16SwapOp::create(builder, loc, pair, a, b, /*fi=*/false,
                                           /*boundControl=*/false);
  } else {
    both = ROCDL::Permlane32SwapOp::create(builder, loc, pair, a, b, /*fi=*/false,
                                           /*boundControl=*/false);
  }
  return {LLVM::ExtractValueOp::create(builder, loc, both, 0),
          LLVM::ExtractValueOp::create(builder, loc, both, 1)};
}

void TileBuilder::wait(int vector, int lds) { dialect::WaitOp::create(builder, loc, vector, lds); }

void TileBuilder::barrier() { dialect::BarrierOp::create(builder, loc); }

void TileBuilder::priority(int level) {
  ROCDL::SetPrioOp::create(builder, loc,
                           builder.getI16IntegerAttr(static_cast<std::int16_t>(level)));
}

Type TileBuilder::elementType(ElementType type) {
  switch (type) {
  case ElementType::f32:
    return builder.getF32Type();
  case ElementType::f16:
    return builder.getF16Type();
  case ElementType::bf16:
    return builder.getBF16Type();
  case ElementType::i32:
    return builder.getI32Type();
  default:
    assert(false && "no kernel of this element type yet: the rules refuse it");
    return {};
  }
}

VectorType TileBuilder::fragmentType(ElementType type, int elements) {
  constexpr int packed = 4;
  return type == ElementType::i8 ? vectorType(elements / packed, builder.getI32Type())
                                 : vectorType(elements, elementType(type));
}

Type TileBuilder::bitsType(int bytes) {
  if (bytes <= 4) {
    return builder.getIntegerType(bytes * 8);
  }
  return vectorType(bytes / 4, builder.getI32Type());
}

VectorType TileBuilder::vectorType(std::int64_t count, Type element) {
  return VectorType::get({count}, element);
}

} // namespace kw
