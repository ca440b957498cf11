// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f16 under any MODE: operations are done in f64, where sums and products of halves are exact, and
// rounded once by the host's rounding, which must be that of MODE's f64 and f16 field.
#pragma once

#include "runtime/emulator/FloatMode.h"
#include "runtime/emulator/semantics/Numbers.h"

#include <algorithm>
#include <cmath>

namespace kw::detail {

class HalfMode {
public:
  explicit HalfMode(u32 mode)
      : rounding(static_cast<int>(mode >> 2 & 3)), keepsSources(mode >> 6 & 1),
        keepsResults(mode >> 7 & 1), saturates(mode >> modeBit::halfOverflow & 1) {}

  /// Nearest even, all denormals, infinities, and f32 the same: what the fast handlers do.
  static bool isPlain(u32 mode) {
    return (mode & 0xcf) == 0xc0 && !(mode >> modeBit::halfOverflow & 1);
  }

  f64 valueOf(u16 bits) const {
    const bool denormal = (bits & 0x7c00) == 0;
    return fromHalf(denormal && !keepsSources ? bits & 0x8000u : bits);
  }

  u32 round(f64 x) const {
    if (isNan(x) || std::isinf(x)) {
      return toHalfBits(static_cast<f32>(x));
    }
    // Adding 1.5 * 2^(e + 42) leaves 10 bits behind the leading one.
    const int exponent = x == 0 ? -14 : std::max(std::ilogb(x), -14);
    const f64 magic = std::copysign(std::ldexp(1.5, exponent + 42), x);
    const f64 rounded = (x + magic) - magic;
    const u32 sign = std::signbit(x) ? 0x8000 : 0;
    const f64 magnitude = std::fabs(rounded);
    if (magnitude > 65504) {
      const bool away = rounding == 0 || rounding == (sign != 0 ? 2 : 1);
      return sign | (away && !saturates ? 0x7c00 : 0x7bff);
    }
    if (magnitude < 0x1p-14 && !keepsResults) {
      return sign;
    }
    return sign | toHalfBits(static_cast<f32>(magnitude));
  }

private:
  int rounding; ///< 0 nearest even, 1 up, 2 down, 3 toward zero
  bool keepsSources, keepsResults, saturates;
};

} // namespace kw::detail
