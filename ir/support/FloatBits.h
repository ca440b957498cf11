// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// IEEE-style binary formats (sign, exponent, mantissa; subnormals, infinities, NaN) as bits: one
// rounding, to nearest even, from double. For single values; nothing here is tuned for arrays.
#pragma once

#include <cstdint>

namespace kw {

struct FloatFormat {
  int exponentBits;
  int mantissaBits;
};

inline constexpr FloatFormat f16Format{5, 10};
inline constexpr FloatFormat bf16Format{8, 7};
inline constexpr FloatFormat f32Format{8, 23};

/// Too large becomes infinity; NaN becomes the positive quiet NaN without payload.
std::uint32_t encodeFloat(FloatFormat format, double value);

/// Exact: every value of these formats is a double.
double decodeFloat(FloatFormat format, std::uint32_t bits);

} // namespace kw
