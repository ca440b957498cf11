// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/ElementType.h"

#include <array>
#include <cassert>
#include <cstddef>

namespace kw {
namespace {

struct Row {
  ElementType type;
  std::string_view name;
  int bits;
  bool isFloat;
};

// In the order of the enumeration, so that a type indexes its row.
constexpr std::array<Row, 18> rows = {{
    {ElementType::f64, "f64", 64, true},
    {ElementType::f32, "f32", 32, true},
    {ElementType::f16, "f16", 16, true},
    {ElementType::bf16, "bf16", 16, true},
    {ElementType::fp8, "fp8", 8, true},
    {ElementType::bf8, "bf8", 8, true},
    {ElementType::fp6, "fp6", 6, true},
    {ElementType::bf6, "bf6", 6, true},
    {ElementType::fp4, "fp4", 4, true},
    {ElementType::e8m0, "e8m0", 8, true},
    {ElementType::i64, "i64", 64, false},
    {ElementType::i32, "i32", 32, false},
    {ElementType::i16, "i16", 16, false},
    {ElementType::i8, "i8", 8, false},
    {ElementType::u64, "u64", 64, false},
    {ElementType::u32, "u32", 32, false},
    {ElementType::u16, "u16", 16, false},
    {ElementType::u8, "u8", 8, false},
}};

constexpr bool inOrder() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(rows[i].type) != i) {
      return false;
    }
  }
  return true;
}
static_assert(inOrder());

const Row &rowOf(ElementType type) {
  assert(static_cast<std::size_t>(type) < rows.size() && "not an element type");
  return rows[static_cast<std::size_t>(type)];
}

} // namespace

int bitWidth(ElementType type) { return rowOf(type).bits; }

std::string_view name(ElementType type) { return rowOf(type).name; }

std::optional<ElementType> parseElementType(std::string_view text) {
  for (const Row &row : rows) {
    if (row.name == text) {
      return row.type;
    }
  }
  return std::nullopt;
}

bool isFloat(ElementType type) { return rowOf(type).isFloat; }

} // namespace kw
