// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Problem text of RMSNorm:
//   rows cols               required
//   dtype=bf16              x, weight, residual and the sum: f32 f16 bf16 (always printed)
//   out=                    y; default dtype, fp8 with quant=fp8
//   weight=1 residual=0 eps=1e-6 quant=none
#include "ir/ops/RmsNorm.h"

#include "ir/ops/Operator.h"
#include "ir/support/TextList.h"

#include <array>

namespace kw {
namespace {

constexpr std::array<std::string_view, 3> typeNames{"f32", "f16", "bf16"};
constexpr std::array<std::string_view, 4> outNames{"f32", "f16", "bf16", "fp8"};
constexpr std::array<std::string_view, 2> quantNames{"none", "fp8"};

std::span<const Key> keys() {
  static const std::array<Key, 8> all{{
      {"rows", std::string(sizeRange), true},
      {"cols", std::string(sizeRange), true},
      {"dtype", joined(typeNames, " ")},
      {"out", joined(outNames, " ")},
      {"weight", "0 1"},
      {"residual", "0 1"},
      {"eps", "a number from 0"},
      {"quant", joined(quantNames, " ")},
  }};
  return all;
}

ElementType typeOf(std::string_view text) { return *parseElementType(text); }

ElementType defaultOut(const RmsNorm &op) { return op.quantised ? ElementType::fp8 : op.type; }

Problem read(KeyValues &values) {
  RmsNorm op;
  op.rows = values.integer("rows", 1, largestSize, 1);
  op.cols = values.integer("cols", 1, largestSize, 1);
  op.type = typeOf(typeNames[values.choice("dtype", typeNames, 2)]);
  op.weight = values.flag("weight", true);
  op.residual = values.flag("residual", false);
  op.quantised = values.choice("quant", quantNames, 0) == 1;
  op.eps = values.real("eps", op.eps);
  if (op.eps < 0) {
    values.reject("eps");
  }
  op.outType = defaultOut(op);
  if (values.has("out")) {
    op.outType = typeOf(outNames[values.choice("out", outNames, 0)]);
    if ((op.outType == ElementType::fp8) != op.quantised) {
      values.complain("out contradicts quant; accepted: out=fp8 with quant=fp8, another out with "
                      "quant=none");
    }
  }
  return Problem{op};
}

void printKeys(const Problem &problem, KeyPrinter &printer, bool compiledOnly) {
  const RmsNorm &op = problem.rmsnorm();
  if (!compiledOnly) {
    printer.add("rows", op.rows);
  }
  printer.add("cols", op.cols);
  printer.add("dtype", name(op.type));
  if (op.outType != defaultOut(op)) {
    printer.add("out", name(op.outType));
  }
  printer.addUnless("weight", std::int64_t(op.weight), 1);
  printer.addUnless("residual", std::int64_t(op.residual), 0);
  printer.addUnless("eps", op.eps, RmsNorm().eps);
  if (op.quantised) {
    printer.add("quant", "fp8");
  }
}

std::vector<Tensor> listTensors(const Problem &problem) {
  const RmsNorm &op = problem.rmsnorm();
  const auto matrix = [&](std::string name, BufferRole role, ElementType type) {
    return Tensor{std::move(name), role, type, {op.rows, op.cols}, {op.cols, 1}};
  };
  std::vector<Tensor> all;
  all.push_back(matrix("x", BufferRole::input, op.type));
  if (op.weight) {
    all.push_back({"weight", BufferRole::input, op.type, {op.cols}, {1}});
  }
  if (op.residual) {
    all.push_back(matrix("residual", BufferRole::input, op.type));
  }
  all.push_back(matrix("y", BufferRole::output, op.outType));
  if (op.residual) {
    all.push_back(matrix("sum", BufferRole::output, op.type));
  }
  if (op.quantised) {
    all.push_back({"scale", BufferRole::output, ElementType::f32, {op.rows}, {1}});
  }
  return all;
}

/// Per element: square, add to the sum of squares, multiply by the reciprocal root; one more each
/// for weight and residual.
double countFlops(const Problem &problem) {
  const RmsNorm &op = problem.rmsnorm();
  const int each = 3 + (op.weight ? 1 : 0) + (op.residual ? 1 : 0);
  return each * static_cast<double>(op.rows) * static_cast<double>(op.cols);
}

} // namespace

const Operator &rmsNormOperator() {
  static const Operator row{Family::rmsnorm, "rmsnorm",   keys(),    read,
                            printKeys,       listTensors, countFlops};
  return row;
}

} // namespace kw
