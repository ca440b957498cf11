// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/ScalarValue.h"

#include "ir/support/FloatBits.h"

#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace kw {
namespace {

using Json = nlohmann::json;
using Bytes = std::vector<std::uint8_t>;

Bytes littleEndian(std::uint64_t bits, int width) {
  Bytes bytes;
  for (int shift = 0; shift < width; shift += 8) {
    bytes.push_back(static_cast<std::uint8_t>(bits >> shift));
  }
  return bytes;
}

std::uint64_t fromLittleEndian(const Bytes &bytes) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bits |= std::uint64_t{bytes[i]} << (8 * i);
  }
  return bits;
}

bool isSigned(ElementType type) { return name(type).front() == 'i'; }

Expected<Bytes> encodeInteger(ElementType type, const Json &value) {
  const int width = bitWidth(type);
  const std::uint64_t ones = std::numeric_limits<std::uint64_t>::max() >> (64 - width);
  const std::uint64_t highest = isSigned(type) ? ones >> 1 : ones;
  const std::int64_t lowest = isSigned(type) ? -static_cast<std::int64_t>(highest) - 1 : 0;
  bool fits = false;
  std::uint64_t bits = 0;
  if (value.is_number_unsigned()) {
    bits = value.get<std::uint64_t>();
    fits = bits <= highest;
  } else if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    bits = static_cast<std::uint64_t>(number);
    fits = number < 0 ? number >= lowest : bits <= highest;
  }
  if (!fits) {
    return badInput(fmt::format("expected an integer from {} to {}", lowest, highest));
  }
  return littleEndian(bits, width);
}

std::optional<double> numberOf(const Json &value) {
  if (value.is_number()) {
    return value.get<double>();
  }
  if (value == "inf") {
    return std::numeric_limits<double>::infinity();
  }
  if (value == "-inf") {
    return -std::numeric_limits<double>::infinity();
  }
  if (value == "nan") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return std::nullopt;
}

std::optional<FloatFormat> formatOf(ElementType type) {
  switch (type) {
  case ElementType::f16:
    return f16Format;
  case ElementType::bf16:
    return bf16Format;
  case ElementType::f32:
    return f32Format;
  default:
    return std::nullopt;
  }
}

Expected<Bytes> encodeReal(ElementType type, const Json &value) {
  const std::optional<double> number = numberOf(value);
  if (!number) {
    return badInput("expected a number, \"inf\", \"-inf\" or \"nan\"");
  }
  const std::optional<FloatFormat> format = formatOf(type);
  if (!format) {
    return littleEndian(std::bit_cast<std::uint64_t>(*number), 64);
  }
  const std::uint32_t bits = encodeFloat(*format, *number);
  if (std::isfinite(*number) && !std::isfinite(decodeFloat(*format, bits))) {
    return badInput(fmt::format("{} is too large for {}", *number, name(type)));
  }
  return littleEndian(bits, bitWidth(type));
}

Json decodeReal(ElementType type, std::uint64_t bits) {
  const std::optional<FloatFormat> format = formatOf(type);
  const double number =
      format ? decodeFloat(*format, static_cast<std::uint32_t>(bits)) : std::bit_cast<double>(bits);
  if (std::isnan(number)) {
    return "nan";
  }
  if (std::isinf(number)) {
    return number < 0 ? "-inf" : "inf";
  }
  return number;
}

} // namespace

bool isScalarType(ElementType type) {
  return !isFloat(type) || type == ElementType::f64 || formatOf(type).has_value();
}

Expected<Bytes> encodeScalar(ElementType type, const Json &value) {
  assert(isScalarType(type) && "no scalar argument has this type");
  return isFloat(type) ? encodeReal(type, value) : encodeInteger(type, value);
}

Json decodeScalar(ElementType type, const Bytes &bytes) {
  assert(static_cast<int>(bytes.size()) * 8 == bitWidth(type) && "size of another type");
  const std::uint64_t bits = fromLittleEndian(bytes);
  if (isFloat(type)) {
    return decodeReal(type, bits);
  }
  if (!isSigned(type)) {
    return bits;
  }
  const int unused = 64 - bitWidth(type);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

} // namespace kw
