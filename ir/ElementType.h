// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types of operands, results and accumulators.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kw {

enum class ElementType : std::uint8_t {
  f64,
  f32,
  f16,
  bf16,
  fp8,
  bf8,
  fp6,
  bf6,
  fp4,
  e8m0,
  i64,
  i32,
  i16,
  i8,
  u64,
  u32,
  u16,
  u8,
};

/// Bits of one element as it lies in memory (fp6: 6, fp4: 4).
int bitWidth(ElementType type);

/// Bytes of `count` elements packed densely, rounded up to a byte.
inline std::int64_t bytesOf(ElementType type, std::int64_t count) {
  return (count * bitWidth(type) + 7) / 8;
}

/// "bf16", "fp8" (OCP E4M3), "bf8" (OCP E5M2), "fp6" (E2M3), "bf6" (E3M2), "fp4" (E2M1), ...
std::string_view name(ElementType type);
std::optional<ElementType> parseElementType(std::string_view text);

bool isFloat(ElementType type);

} // namespace kw
