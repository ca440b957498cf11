// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random contents as a function of (seed, index), so that any part of a buffer can be filled, in
// any order, without the rest.
#pragma once

#include "ir/ElementType.h"

#include <cstdint>
#include <span>

namespace kw {

/// 64 well mixed bits (SplitMix64's output function at position `index` of stream `seed`).
std::uint64_t randomBits(std::uint64_t seed, std::uint64_t index);

/// A distribution; its values are rounded to the element type when they are stored.
struct RandomSource {
  enum class Kind {
    normal,   ///< nearly: sum of four uniforms, variance 1, within +-3.47; times `scale`
    uniform,  ///< in [-1, 1), times `scale`
    integers, ///< in [-range, range], each as likely
    bytes,    ///< any bit pattern of the type, NaN and infinities too
  };
  Kind kind = Kind::normal;
  std::uint64_t seed = 0;
  double scale = 1;
  std::int64_t range = 4; ///< at most 2^31

  /// Not for `bytes`, which has no values.
  double value(std::uint64_t index) const;
};

/// Fills elements [first, first + count) of a packed array. Unsigned types take magnitudes.
void fillRandom(const RandomSource &source, ElementType type, std::uint8_t *array,
                std::int64_t first, std::int64_t count);

} // namespace kw
