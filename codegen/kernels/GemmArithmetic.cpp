// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/GemmArithmetic.h"

#include "ir/ops/Activation.h"

#include <cassert>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>

using namespace mlir;

namespace kw {
namespace {

constexpr double log2e = 1.44269504088896340736;

/// Elementwise functions of a vector of f32.
class Elementwise {
public:
  Elementwise(TileBuilder &tiles, int count) : tiles(tiles), count(count) {}

  Value constant(double value) { return splat(tiles, tiles.floatConstant(value), count); }
  Value mul(Value a, Value b) { return LLVM::FMulOp::create(tiles.builder, tiles.loc, a, b); }
  Value add(Value a, Value b) { return LLVM::FAddOp::create(tiles.builder, tiles.loc, a, b); }
  Value sub(Value a, Value b) { return LLVM::FSubOp::create(tiles.builder, tiles.loc, a, b); }
  Value fma(Value a, Value b, Value c) {
    return LLVM::FMAOp::create(tiles.builder, tiles.loc, a, b, c);
  }
  Value abs(Value a) { return LLVM::FAbsOp::create(tiles.builder, tiles.loc, a); }

  /// NaN stays, unlike with a maximum.
  Value relu(Value x) {
    Value zero = constant(0);
    return select(negative(x), zero, x);
  }

  Value silu(Value x) {
    Value power = exp2(mul(x, constant(-log2e)));
    return mul(x, reciprocal(add(power, constant(1))));
  }

  Value gelu(Value x) {
    Value t = reciprocal(fma(abs(x), constant(geluShift), constant(1)));
    Value sum = constant(geluPolynomial.back());
    for (std::size_t i = geluPolynomial.size() - 1; i-- > 0;) {
      sum = fma(sum, t, constant(geluPolynomial[i]));
    }
    Value power = exp2(mul(mul(x, constant(-0.5 * log2e)), x));
    Value tail = mul(mul(sum, t), power);
    return mul(x, select(negative(x), tail, sub(constant(1), tail)));
  }

private:
  Value negative(Value x) {
    return LLVM::FCmpOp::create(tiles.builder, tiles.loc, LLVM::FCmpPredicate::olt, x, constant(0));
  }
  Value select(Value condition, Value a, Value b) {
    return LLVM::SelectOp::create(tiles.builder, tiles.loc, condition, a, b);
  }
  Value reciprocal(Value x) { return each<ROCDL::ROCDLRcp>(x); }
  Value exp2(Value x) { return each<ROCDL::ROCDLExp2>(x); }

  template <typename Function> Value each(Value vector) {
    Value result = LLVM::UndefOp::create(tiles.builder, tiles.loc, vector.getType());
    for (int i = 0; i < count; ++i) {
      Value one =
          LLVM::ExtractElementOp::create(tiles.builder, tiles.loc, vector, tiles.constant(i));
      Value value = Function::create(tiles.builder, tiles.loc, one.getType(), one);
      result =
          LLVM::InsertElementOp::create(tiles.builder, tiles.loc, result, value, tiles.constant(i));
    }
    return result;
  }

  TileBuilder &tiles;
  int count;
};

} // namespace

Value splat(TileBuilder &tiles, Value value, int count) {
  Value all =
      LLVM::UndefOp::create(tiles.builder, tiles.loc, tiles.vectorType(count, value.getType()));
  for (int i = 0; i < count; ++i) {
    all = LLVM::InsertElementOp::create(tiles.builder, tiles.loc, all, value, tiles.constant(i));
  }
  return all;
}

Value asFloats(TileBuilder &tiles, ElementType type, int count, Value bits) {
  OpBuilder &builder = tiles.builder;
  Type own = tiles.vectorType(count, tiles.elementType(type));
  Value values = LLVM::BitcastOp::create(builder, tiles.loc, own, bits);
  if (type == ElementType::f32) {
    return values;
  }
  Type floats = tiles.vectorType(count, builder.getF32Type());
  return LLVM::FPExtOp::create(builder, tiles.loc, floats, values);
}

Value roundedTo(TileBuilder &tiles, ElementType type, Value values) {
  if (type == ElementType::f32 || type == ElementType::i32) {
    return values;
  }
  const auto count = cast<VectorType>(values.getType()).getNumElements();
  Type narrow = tiles.vectorType(count, tiles.elementType(type));
  return LLVM::FPTruncOp::create(tiles.builder, tiles.loc, narrow, values);
}

Value finishedResult(KernelShell &shell, const Gemm &gemm, Value values, ValueRange inputs) {
  TileBuilder &tiles = shell.tiles;
  if (gemm.outType == ElementType::i32) {
    return values; // sums of integers as they are
  }
  const auto count = static_cast<int>(cast<VectorType>(values.getType()).getNumElements());
  if (gemm.accType == ElementType::i32) {
    values = LLVM::SIToFPOp::create(tiles.builder, tiles.loc,
                                    tiles.vectorType(count, tiles.builder.getF32Type()), values);
  }
  Elementwise math(tiles, count);
  auto next = inputs.begin();
  if (gemm.alpha != 1) {
    values = math.mul(values, splat(tiles, shell.argument("alpha"), count));
  }
  if (gemm.beta != 0) {
    values = math.fma(*next++, splat(tiles, shell.argument("beta"), count), values);
  }
  for (const EpilogueStep &step : gemm.epilogue) {
    switch (step.kind) {
    case EpilogueKind::bias:
    case EpilogueKind::add:
      values = math.add(values, *next++);
      break;
    case EpilogueKind::mul:
      values = math.mul(values, *next++);
      break;
    case EpilogueKind::relu:
      values = math.relu(values);
      break;
    case EpilogueKind::silu:
      values = math.silu(values);
      break;
    case EpilogueKind::gelu:
      values = math.gelu(values);
      break;
    case EpilogueKind::quant:
    case EpilogueKind::swiglu:
    case EpilogueKind::weight:
      assert(false && "refused before: ir/rules/EmissionLimits.h");
    }
  }
  assert(next == inputs.end());
  return values;
}

} // namespace kw
