// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small pieces of one-line messages and text forms.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// The items with `separator` between them.
std::string joined(std::span<const std::string_view> items, std::string_view separator);

/// Foreign text for a message: in double quotes, cut to a sane length, other than printable ASCII
/// as \xNN.
std::string quoted(std::string_view text);

/// Parts between `separator`s, empty ones too; one empty part for empty text.
std::vector<std::string_view> split(std::string_view text, char separator);
/// Maximal runs without white space.
std::vector<std::string_view> words(std::string_view text);

/// Decimal digits with an optional '-', all of the text, within 64 bits.
std::optional<std::int64_t> parseInteger(std::string_view text);
/// A finite decimal number, all of the text.
std::optional<double> parseReal(std::string_view text);
/// The shortest text that parses back to the same number.
std::string formatReal(double value);

} // namespace kw
