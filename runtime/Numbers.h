// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements as they lie in memory (little-endian, fp6 and fp4 packed from the lowest bit on) to and
// from double. Decoding is exact but for 64-bit integers; encoding rounds once, to nearest even.
#pragma once

#include "ir/ElementType.h"

#include <cstdint>

namespace kw {

/// `bits` in the low `bitWidth(type)` bits.
double decodeNumber(ElementType type, std::uint64_t bits);

/// Too large: infinity where the type has one (f32, f16, bf16, bf8), NaN in fp8 and e8m0, the
/// largest value in fp6, bf6, fp4 and integers. NaN is a quiet NaN, and 0 in types without NaN.
std::uint64_t encodeNumber(ElementType type, double value);

/// The value that encodeNumber keeps.
double roundTo(ElementType type, double value);

/// Unit roundoff: relative error of one rounding of a normal number, at most; 0 for integers.
double unitRoundoff(ElementType type);

/// Below it numbers lie at equal distances; 0 for integers and e8m0.
double smallestNormal(ElementType type);

/// Element `index` of a packed array.
std::uint64_t loadBits(ElementType type, const std::uint8_t *array, std::int64_t index);
void storeBits(ElementType type, std::uint8_t *array, std::int64_t index, std::uint64_t bits);

/// `count` elements from element `first` on; the same as one by one, but fast for the usual types.
void encodeNumbers(ElementType type, const double *from, std::uint8_t *array, std::int64_t first,
                   std::int64_t count);
void decodeNumbers(ElementType type, const std::uint8_t *array, std::int64_t first,
                   std::int64_t count, double *to);

} // namespace kw
