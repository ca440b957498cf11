// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Numbers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace kw {
namespace {

constexpr std::uint64_t noCode = ~std::uint64_t{0};

/// A sign bit, `exponentBits`, `mantissaBits`, subnormals. Codes are without the sign.
struct FloatShape {
  int exponentBits = 0, mantissaBits = 0;
  std::uint64_t largest = 0;       ///< code of the largest finite value
  std::uint64_t infinity = noCode; ///< `noCode`: the type has none
  std::uint64_t quietNan = noCode;

  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  constexpr int minExponent() const { return 1 - bias(); }
  constexpr std::uint64_t sign() const { return std::uint64_t{1} << (exponentBits + mantissaBits); }
};

/// IEEE-like: the highest exponent is kept for infinity and NaN.
constexpr FloatShape ieee(int exponentBits, int mantissaBits) {
  const std::uint64_t infinity = ((std::uint64_t{1} << exponentBits) - 1) << mantissaBits;
  return {exponentBits, mantissaBits, infinity - 1, infinity,
          infinity | std::uint64_t{1} << (mantissaBits - 1)};
}

/// OCP microscaling formats below 8 bits: every code is finite.
constexpr FloatShape finite(int exponentBits, int mantissaBits) {
  return {exponentBits, mantissaBits, (std::uint64_t{1} << (exponentBits + mantissaBits)) - 1};
}

// [OCP 8-bit floating point specification, table 1; OCP microscaling formats, tables 1 to 4]
constexpr FloatShape f32Shape = ieee(8, 23), f16Shape = ieee(5, 10), bf16Shape = ieee(8, 7);
constexpr FloatShape bf8Shape = ieee(5, 2);
constexpr FloatShape fp8Shape = {4, 3, 0x7E, noCode, 0x7F};
constexpr FloatShape fp6Shape = finite(2, 3), bf6Shape = finite(3, 2), fp4Shape = finite(2, 1);

const FloatShape *shapeOf(ElementType type) {
  switch (type) {
  case ElementType::f32:
    return &f32Shape;
  case ElementType::f16:
    return &f16Shape;
  case ElementType::bf16:
    return &bf16Shape;
  case ElementType::fp8:
    return &fp8Shape;
  case ElementType::bf8:
    return &bf8Shape;
  case ElementType::fp6:
    return &fp6Shape;
  case ElementType::bf6:
    return &bf6Shape;
  case ElementType::fp4:
    return &fp4Shape;
  default:
    return nullptr;
  }
}

/// 2^exponent, for exponents of normal numbers.
constexpr double powerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

double decodeFloatShape(const FloatShape &shape, std::uint64_t bits) {
  const std::uint64_t code = bits & (shape.sign() - 1);
  double magnitude = 0;
  if (code == shape.infinity) {
    magnitude = std::numeric_limits<double>::infinity();
  } else if (code > shape.largest) {
    magnitude = std::numeric_limits<double>::quiet_NaN();
  } else {
    const std::uint64_t exponent = code >> shape.mantissaBits;
    const std::uint64_t unit = std::uint64_t{1} << shape.mantissaBits;
    const std::uint64_t mantissa = (code & (unit - 1)) | (exponent != 0 ? unit : 0);
    const int scale = static_cast<int>(std::max<std::uint64_t>(exponent, 1)) - shape.bias();
    magnitude = std::ldexp(static_cast<double>(mantissa), scale - shape.mantissaBits);
  }
  return (bits & shape.sign()) != 0 ? -magnitude : magnitude;
}

/// Code of a finite magnitude; may exceed `largest`.
inline std::uint64_t encodeMagnitude(const FloatShape &shape, double magnitude) {
  if (magnitude < powerOfTwo(shape.minExponent())) {
    // Adding a number whose unit in the last place is the smallest subnormal makes the FPU round.
    const double anchor = powerOfTwo(shape.minExponent() - shape.mantissaBits + 52);
    return std::bit_cast<std::uint64_t>(magnitude + anchor) - std::bit_cast<std::uint64_t>(anchor);
  }
  const int drop = 52 - shape.mantissaBits;
  auto bits = std::bit_cast<std::uint64_t>(magnitude);
  bits += (std::uint64_t{1} << (drop - 1)) - 1 + (bits >> drop & 1U); // ties to even
  return (bits >> drop) - (static_cast<std::uint64_t>(1023 - shape.bias()) << shape.mantissaBits);
}

/// Inlined with a constant shape where many numbers are encoded.
inline std::uint64_t encodeFloatShape(const FloatShape &shape, double value) {
  if (std::isnan(value)) {
    return shape.quietNan == noCode ? 0 : shape.quietNan;
  }
  const std::uint64_t sign = std::signbit(value) ? shape.sign() : 0;
  const std::uint64_t code = std::isinf(value) ? noCode : encodeMagnitude(shape, std::fabs(value));
  if (code <= shape.largest) {
    return sign | code;
  }
  if (shape.infinity != noCode) {
    return sign | shape.infinity;
  }
  return sign | (shape.quietNan != noCode ? shape.quietNan : shape.largest);
}

bool isSigned(ElementType type) {
  return type == ElementType::i64 || type == ElementType::i32 || type == ElementType::i16 ||
         type == ElementType::i8;
}

double decodeInteger(ElementType type, std::uint64_t bits) {
  const int unused = 64 - bitWidth(type);
  if (isSigned(type)) {
    return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
  }
  return static_cast<double>(bits << unused >> unused);
}

std::uint64_t encodeInteger(ElementType type, double value) {
  if (std::isnan(value)) {
    return 0;
  }
  const int width = bitWidth(type);
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width);
  const double rounded = std::nearbyint(value);
  if (isSigned(type)) {
    const double bound = std::ldexp(1.0, width - 1);
    if (rounded >= bound) {
      return mask >> 1;
    }
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::max(rounded, -bound))) & mask;
  }
  return rounded >= std::ldexp(1.0, width) ? mask
                                           : static_cast<std::uint64_t>(std::max(rounded, 0.0));
}

/// A power of two, 2^(code - 127); 0xFF is NaN [OCP microscaling formats, 5.4.1].
std::uint64_t encodeE8m0(double value) {
  if (!(value > 0) || std::isinf(value)) {
    return value == 0 ? 0 : 0xFF;
  }
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent); // in [0.5, 1)
  const int code = exponent - 1 + (fraction > 0.75 ? 1 : 0) + 127;
  return static_cast<std::uint64_t>(std::clamp(code, 0, 0xFF));
}

/// Values of all codes of types of up to 8 bits.
using Table = std::array<double, 256>;

template <ElementType type> const Table &tableOf() {
  static const Table table = [] {
    Table values{};
    for (std::uint64_t code = 0; code < values.size(); ++code) {
      values[code] = decodeNumber(type, code);
    }
    return values;
  }();
  return table;
}

template <typename Bits> Bits read(const std::uint8_t *array, std::int64_t index) {
  Bits bits{};
  std::memcpy(&bits, array + index * static_cast<std::int64_t>(sizeof(Bits)), sizeof(Bits));
  return bits;
}

/// Rebiasing by a multiplication makes subnormals come out right; the top exponent needs a hand.
double decodeF16(std::uint16_t bits) {
  const auto code = static_cast<std::uint32_t>(bits & 0x7FFFU);
  float magnitude = std::bit_cast<float>(code << 13) * 0x1p112F;
  if (code >= f16Shape.infinity) {
    magnitude = code == f16Shape.infinity ? std::numeric_limits<float>::infinity()
                                          : std::numeric_limits<float>::quiet_NaN();
  }
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

template <typename Bits>
void encodeArray(const FloatShape &shape, const double *from, std::uint8_t *to,
                 std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = static_cast<Bits>(encodeFloatShape(shape, from[i]));
    std::memcpy(to + i * static_cast<std::int64_t>(sizeof(Bits)), &bits, sizeof(Bits));
  }
}

void decodeBytes(const Table &table, const std::uint8_t *array, std::int64_t count, double *to) {
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = table[array[i]];
  }
}

} // namespace

double decodeNumber(ElementType type, std::uint64_t bits) {
  if (const FloatShape *shape = shapeOf(type)) {
    return decodeFloatShape(*shape, bits);
  }
  if (type == ElementType::f64) {
    return std::bit_cast<double>(bits);
  }
  if (type == ElementType::e8m0) {
    const auto code = static_cast<int>(bits & 0xFFU);
    return code == 0xFF ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, code - 127);
  }
  return decodeInteger(type, bits);
}

std::uint64_t encodeNumber(ElementType type, double value) {
  if (const FloatShape *shape = shapeOf(type)) {
    return encodeFloatShape(*shape, value);
  }
  if (type == ElementType::f64) {
    return std::bit_cast<std::uint64_t>(value);
  }
  return type == ElementType::e8m0 ? encodeE8m0(value) : encodeInteger(type, value);
}

double roundTo(ElementType type, double value) {
  return decodeNumber(type, encodeNumber(type, value));
}

double unitRoundoff(ElementType type) {
  if (const FloatShape *shape = shapeOf(type)) {
    return std::ldexp(1.0, -shape->mantissaBits - 1);
  }
  switch (type) {
  case ElementType::f64:
    return 0x1p-53;
  case ElementType::e8m0:
    return 0.5;
  default:
    return 0;
  }
}

double smallestNormal(ElementType type) {
  if (const FloatShape *shape = shapeOf(type)) {
    return std::ldexp(1.0, shape->minExponent());
  }
  return type == ElementType::f64 ? 0x1p-1022 : 0;
}

std::uint64_t loadBits(ElementType type, const std::uint8_t *array, std::int64_t index) {
  switch (bitWidth(type)) {
  case 64:
    return read<std::uint64_t>(array, index);
  case 32:
    return read<std::uint32_t>(array, index);
  case 16:
    return read<std::uint16_t>(array, index);
  case 8:
    return array[index];
  default:
    break;
  }
  std::uint64_t bits = 0;
  for (int i = 0; i < bitWidth(type); ++i) {
    const std::int64_t at = index * bitWidth(type) + i;
    bits |= static_cast<std::uint64_t>(array[at / 8] >> (at % 8) & 1U) << i;
  }
  return bits;
}

void storeBits(ElementType type, std::uint8_t *array, std::int64_t index, std::uint64_t bits) {
  const int width = bitWidth(type);
  if (width >= 8) {
    std::memcpy(array + index * (width / 8), &bits, static_cast<std::size_t>(width / 8));
    return;
  }
  for (int i = 0; i < width; ++i) {
    const std::int64_t at = index * width + i;
    const auto mask = static_cast<std::uint8_t>(1U << (at % 8));
    std::uint8_t &byte = array[at / 8];
    byte = static_cast<std::uint8_t>((bits >> i & 1U) != 0 ? byte | mask : byte & ~mask);
  }
}

void encodeNumbers(ElementType type, const double *from, std::uint8_t *array, std::int64_t first,
                   std::int64_t count) {
  switch (type) {
  case ElementType::f16:
    return encodeArray<std::uint16_t>(f16Shape, from, array + 2 * first, count);
  case ElementType::bf16:
    return encodeArray<std::uint16_t>(bf16Shape, from, array + 2 * first, count);
  default:
    for (std::int64_t i = 0; i < count; ++i) {
      storeBits(type, array, first + i, encodeNumber(type, from[i]));
    }
  }
}

void decodeNumbers(ElementType type, const std::uint8_t *array, std::int64_t first,
                   std::int64_t count, double *to) {
  switch (type) {
  case ElementType::f32:
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = read<float>(array, first + i);
    }
    return;
  case ElementType::bf16:
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint32_t bits = read<std::uint16_t>(array, first + i);
      to[i] = std::bit_cast<float>(bits << 16);
    }
    return;
  case ElementType::f16:
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = decodeF16(read<std::uint16_t>(array, first + i));
    }
    return;
  case ElementType::fp8:
    return decodeBytes(tableOf<ElementType::fp8>(), array + first, count, to);
  case ElementType::bf8:
    return decodeBytes(tableOf<ElementType::bf8>(), array + first, count, to);
  default:
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = decodeNumber(type, loadBits(type, array, first + i));
    }
  }
}

} // namespace kw
