// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/sweep/SweepAxis.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <sstream>

namespace kw {
namespace {

constexpr std::int64_t largestValue = 2147483647;
constexpr std::size_t mostValues = 4096;

tl::unexpected<Error> refused(std::string_view text, std::string_view why) {
  return badInput(fmt::format("--sweep {}: {}, expected KEY=FIRST..LAST*FACTOR, "
                              "KEY=FIRST..LAST+STEP or KEY=V,V,... of integers from 1 to {}",
                              text, why, largestValue));
}

std::optional<std::int64_t> readInteger(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 1 && value <= largestValue ? std::optional(value) : std::nullopt;
}

/// FIRST..LAST with *FACTOR or +STEP; empty: not of that form.
std::vector<std::int64_t> readRange(std::string_view text, std::size_t dots) {
  const std::string_view behind = text.substr(dots + 2);
  const std::size_t sign = behind.find_first_of("*+");
  if (sign == std::string_view::npos) {
    return {};
  }
  const bool geometric = behind[sign] == '*';
  const auto first = readInteger(text.substr(0, dots)), last = readInteger(behind.substr(0, sign)),
             step = readInteger(behind.substr(sign + 1));
  if (!first || !last || !step || *last < *first || (geometric && *step < 2)) {
    return {};
  }
  std::vector<std::int64_t> values;
  for (std::int64_t value = *first; value <= *last && values.size() <= mostValues;
       value = geometric ? value * *step : value + *step) {
    values.push_back(value);
  }
  return values;
}

/// Empty: not a rising list of integers.
std::vector<std::int64_t> readList(std::string_view text) {
  std::vector<std::int64_t> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto value = readInteger(text.substr(begin, end - begin));
    if (!value || (!values.empty() && *value <= values.back())) {
      return {};
    }
    values.push_back(*value);
    begin = end + 1;
  }
  return values;
}

} // namespace

Expected<SweepAxis> parseSweepAxis(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return refused(text, "no key");
  }
  const std::string_view range = text.substr(equals + 1);
  const std::size_t dots = range.find("..");
  SweepAxis axis{std::string(text.substr(0, equals)),
                 dots == std::string_view::npos ? readList(range) : readRange(range, dots)};
  if (axis.values.empty()) {
    return refused(text, "no rising range or list");
  }
  if (axis.values.size() > mostValues) {
    return refused(text, fmt::format("more than {} values", mostValues));
  }
  return axis;
}

std::string withKey(std::span<const std::string> words, std::string_view key, std::int64_t value) {
  std::string text;
  const std::string start = fmt::format("{}=", key);
  for (const std::string &word : words) {
    std::istringstream parts(word);
    for (std::string part; parts >> part;) {
      if (!part.starts_with(start)) {
        text += part + ' ';
      }
    }
  }
  return text + start + std::to_string(value);
}

} // namespace kw
