// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Problem text of top-k:
//   rows cols k             required; k at most cols
//   dtype=f32               x and values: f32 f16 bf16 (always printed)
//   largest=1 sorted=1 index=i64
#include "ir/ops/TopK.h"

#include "ir/ops/Operator.h"
#include "ir/support/TextList.h"

#include <array>
#include <fmt/format.h>

namespace kw {
namespace {

constexpr std::array<std::string_view, 3> typeNames{"f32", "f16", "bf16"};
constexpr std::array<std::string_view, 2> indexNames{"i64", "i32"};

std::span<const Key> keys() {
  static const std::array<Key, 7> all{{
      {"rows", std::string(sizeRange), true},
      {"cols", std::string(sizeRange), true},
      {"k", "an integer from 1 to cols", true},
      {"dtype", joined(typeNames, " ")},
      {"largest", "0 1"},
      {"sorted", "0 1"},
      {"index", joined(indexNames, " ")},
  }};
  return all;
}

Problem read(KeyValues &values) {
  TopKSelection op;
  op.rows = values.integer("rows", 1, largestSize, 1);
  op.cols = values.integer("cols", 1, largestSize, 1);
  op.k = values.integer("k", 1, largestSize, 1);
  if (op.k > op.cols) {
    values.complain(fmt::format("k={} is above cols={}; accepted: 1 to cols", op.k, op.cols));
  }
  op.type = *parseElementType(typeNames[values.choice("dtype", typeNames, 0)]);
  op.largest = values.flag("largest", true);
  op.sorted = values.flag("sorted", true);
  op.indexType = *parseElementType(indexNames[values.choice("index", indexNames, 0)]);
  return Problem{op};
}

void printKeys(const Problem &problem, KeyPrinter &printer, bool compiledOnly) {
  const TopKSelection &op = problem.topk();
  if (!compiledOnly) {
    printer.add("rows", op.rows);
  }
  printer.add("cols", op.cols);
  printer.add("k", op.k);
  printer.add("dtype", name(op.type));
  printer.addUnless("largest", std::int64_t(op.largest), 1);
  printer.addUnless("sorted", std::int64_t(op.sorted), 1);
  if (op.indexType != ElementType::i64) {
    printer.add("index", name(op.indexType));
  }
}

std::vector<Tensor> listTensors(const Problem &problem) {
  const TopKSelection &op = problem.topk();
  const auto matrix = [&](std::string name, BufferRole role, ElementType type,
                          std::int64_t columns) {
    return Tensor{std::move(name), role, type, {op.rows, columns}, {columns, 1}};
  };
  return {matrix("x", BufferRole::input, op.type, op.cols),
          matrix("values", BufferRole::output, op.type, op.k),
          matrix("indices", BufferRole::output, op.indexType, op.k)};
}

/// A comparison an element.
double countFlops(const Problem &problem) {
  const TopKSelection &op = problem.topk();
  return static_cast<double>(op.rows) * static_cast<double>(op.cols);
}

} // namespace

const Operator &topKOperator() {
  static const Operator row{Family::topk, "topk", keys(), read, printKeys, listTensors, countFlops};
  return row;
}

} // namespace kw
