// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wave's rounding and denormal modes, carried out by the host's floating-point unit.
#pragma once

#include <cstdint>

namespace kw::detail {

/// MODE's fields. [ISA, 6.4]
namespace modeBit {
constexpr int clampsNan = 8; ///< DX10_CLAMP: clamp turns NaN into 0
constexpr int ieee = 9;      ///< min and max quiet signalling NaNs, output modifiers are ignored
constexpr int halfOverflow = 23; ///< FP16_OVFL: f16 and 8-bit results saturate
} // namespace modeBit

/// MODE with the fields of f64 and f16 (bits 2-3, 6-7) where those of f32 are (0-1, 4-5).
constexpr std::uint32_t doubleMode(std::uint32_t mode) {
  return (mode & ~0x33u) | (mode >> 2 & 0x33);
}
constexpr bool hasOwnDoubleMode(std::uint32_t mode) { return ((mode ^ mode >> 2) & 0x33) != 0; }
/// Are denormals of f32 (of f64 and f16: of doubleMode) kept in sources and in results?
constexpr bool keepsDenormals(std::uint32_t mode) { return (mode & 0x30) == 0x30; }

/// MODE bits 0-1: rounding (0 nearest even, 1 up, 2 down, 3 toward zero); bits 4-5: denormals
/// allowed in sources, in results. A wave's code runs under its f32 mode; handlers of f64 and f16
/// set doubleMode around themselves where it differs.
class HostFloatMode {
public:
  explicit HostFloatMode(std::uint32_t mode);
  ~HostFloatMode();
  HostFloatMode(const HostFloatMode &) = delete;
  HostFloatMode &operator=(const HostFloatMode &) = delete;

private:
  unsigned saved = 0;
};

} // namespace kw::detail
