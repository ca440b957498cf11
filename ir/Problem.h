// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is computed: one operator family with its sizes, types, orders and strides. The text form
// `FAMILY key=value ...` is a contract (command line, suites, database). Families live one file
// each in ir/ops/ and are listed in Problem.cpp.
#pragma once

#include "ir/CodeObject.h"
#include "ir/ops/Attention.h"
#include "ir/ops/Gemm.h"
#include "ir/ops/GroupedGemm.h"
#include "ir/ops/RmsNorm.h"
#include "ir/ops/TopK.h"
#include "ir/support/Expected.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kw {

enum class Family : std::uint8_t { gemm, rmsnorm, attention, groupedGemm, topk };

std::string_view name(Family family);

struct Problem {
  /// Alternatives in the order of `Family`.
  std::variant<Gemm, RmsNorm, Attention, GroupedGemm, TopKSelection> op;

  Family family() const { return static_cast<Family>(op.index()); }
  const Gemm &gemm() const { return std::get<Gemm>(op); }
  const RmsNorm &rmsnorm() const { return std::get<RmsNorm>(op); }
  const Attention &attention() const { return std::get<Attention>(op); }
  const GroupedGemm &groupedGemm() const { return std::get<GroupedGemm>(op); }
  const TopKSelection &topk() const { return std::get<TopKSelection>(op); }
  bool operator==(const Problem &) const = default;
};

/// Words in any order, one text. Errors name the key and what would be accepted: unknown, missing
/// or repeated key, size outside 1..2^31-1, unknown type, contradictory strides or orders. Files
/// that a key names are not read (ir/ops/README.md).
Expected<Problem> parseProblem(std::string_view text);

/// Canonical: fixed order of keys, defaults omitted. parseProblem(print(p)) == p.
std::string print(const Problem &problem);

/// The same with run-time sizes (m, rows, strides that follow) left out: what a compiled kernel
/// depends on. Key of compiled results in the store.
std::string printCompiledPart(const Problem &problem);

/// Arithmetic operations that the definition needs (GEMM: 2 m n k batch).
double flops(const Problem &problem);
/// Bytes that any implementation must move to and from HBM: each operand once, as far as it is
/// used, each result once.
double compulsoryBytes(const Problem &problem);

/// One operand or result of a problem, as the manifest, the references and the torch operator name
/// it.
struct Tensor {
  std::string name; ///< a b c bias aux x weight residual y sum q k v o lse
  BufferRole role = BufferRole::input;
  ElementType type = ElementType::f32;
  std::vector<std::int64_t> shape;   ///< storage order, outermost first
  std::vector<std::int64_t> strides; ///< elements, same order
  /// An output whose old contents are an operand too (beta != 0).
  bool accumulates = false;
};
std::vector<Tensor> tensors(const Problem &problem);
/// Bytes from the first to behind the last element.
std::int64_t spanBytes(const Tensor &tensor);

} // namespace kw
