// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/RandomValues.h"

#include "runtime/Numbers.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace kw {
namespace {

bool isUnsigned(ElementType type) {
  return type == ElementType::u64 || type == ElementType::u32 || type == ElementType::u16 ||
         type == ElementType::u8 || type == ElementType::e8m0;
}

/// Four uniforms of 16 bits, their sum centred: variance 4 * (2^32 - 1) / 12.
double normalOf(std::uint64_t bits) {
  const auto sum = static_cast<double>((bits & 0xFFFFU) + (bits >> 16 & 0xFFFFU) +
                                       (bits >> 32 & 0xFFFFU) + (bits >> 48));
  constexpr double deviation = 37837.22722; // sqrt((2^32 - 1) / 3)
  return (sum - 2.0 * 65535.0) * (1.0 / deviation);
}

} // namespace

std::uint64_t randomBits(std::uint64_t seed, std::uint64_t index) {
  // The seed is mixed first, so that streams of neighbouring seeds share no section.
  std::uint64_t z = (seed + 1) * 0xD1342543DE82EF95U;
  z = (z ^ z >> 32) + index * 0x9E3779B97F4A7C15U;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
  z = (z ^ z >> 27) * 0x94D049BB133111EBU;
  return z ^ z >> 31;
}

double RandomSource::value(std::uint64_t index) const {
  const std::uint64_t bits = randomBits(seed, index);
  switch (kind) {
  case Kind::normal:
    return normalOf(bits) * scale;
  case Kind::uniform:
    return static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-63 * scale;
  case Kind::integers: {
    const auto count = static_cast<std::uint64_t>(2 * range + 1);
    return static_cast<double>(static_cast<std::int64_t>((bits >> 32) * count >> 32) - range);
  }
  case Kind::bytes:
    break;
  }
  assert(false && "bytes have no values");
  return 0;
}

void fillRandom(const RandomSource &source, ElementType type, std::uint8_t *array,
                std::int64_t first, std::int64_t count) {
  if (source.kind == RandomSource::Kind::bytes) {
    for (std::int64_t i = first; i < first + count; ++i) {
      storeBits(type, array, i, randomBits(source.seed, static_cast<std::uint64_t>(i)));
    }
    return;
  }
  const bool magnitudes = isUnsigned(type);
  constexpr std::int64_t portion = 256;
  std::array<double, portion> values{};
  for (std::int64_t begin = first; begin < first + count; begin += portion) {
    const std::int64_t size = std::min(portion, first + count - begin);
    for (std::int64_t i = 0; i < size; ++i) {
      const double value = source.value(static_cast<std::uint64_t>(begin + i));
      values[static_cast<std::size_t>(i)] = magnitudes ? std::fabs(value) : value;
    }
    encodeNumbers(type, values.data(), array, begin, size);
  }
}

} // namespace kw
