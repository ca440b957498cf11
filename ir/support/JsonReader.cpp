// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/support/JsonReader.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw {
namespace {

using Json = nlohmann::json;

const Json missing;

bool isPlainKey(std::string_view key) {
  return !key.empty() && key.size() <= 40 && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string childPath(const std::string &path, std::string_view key) {
  const std::string shown = isPlainKey(key) ? std::string(key) : quotedText(key);
  return path.empty() ? shown : path + "." + shown;
}

} // namespace

std::string quotedText(std::string_view text) {
  constexpr std::size_t longest = 60;
  const bool cut = text.size() > longest;
  const std::string shown = Json(std::string(text.substr(0, longest)))
                                .dump(-1, ' ', true, Json::error_handler_t::replace);
  return cut ? shown + "..." : shown;
}

void JsonReader::complain(std::string_view message) const {
  if (*complaint) {
    return;
  }
  *complaint = Error{Error::Kind::badInput,
                     path.empty() ? std::string(message) : fmt::format("{}: {}", path, message)};
}

JsonReader JsonReader::at(const char *key) const {
  JsonReader child(missing, childPath(path, key), *complaint);
  if (!value->is_object()) {
    complain("expected an object");
  } else if (auto found = value->find(key); found != value->end()) {
    child.value = &*found;
  } else {
    child.complain("required, but missing");
  }
  return child;
}

void JsonReader::allowOnly(std::initializer_list<std::string_view> keys) const {
  if (!value->is_object()) {
    complain("expected an object");
    return;
  }
  for (const auto &[key, ignored] : value->items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      complain(fmt::format("unknown key {}, expected {}", quotedText(key), fmt::join(keys, ", ")));
    }
  }
}

std::vector<JsonReader> JsonReader::elements() const {
  std::vector<JsonReader> result;
  if (!value->is_array()) {
    complain("expected an array");
    return result;
  }
  for (std::size_t i = 0; i < value->size(); ++i) {
    result.emplace_back((*value)[i], fmt::format("{}[{}]", path, i), *complaint);
  }
  return result;
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::members() const {
  std::vector<std::pair<std::string, JsonReader>> result;
  if (!value->is_object()) {
    complain("expected an object");
    return result;
  }
  for (const auto &[key, child] : value->items()) {
    result.emplace_back(key, JsonReader(child, childPath(path, key), *complaint));
  }
  return result;
}

std::string JsonReader::string() const {
  if (!value->is_string()) {
    complain("expected a string");
    return {};
  }
  const auto &text = value->get_ref<const std::string &>();
  if (text.empty() || text.find('\0') != std::string::npos) {
    complain("expected a string that is not empty");
    return {};
  }
  return text;
}

std::int64_t JsonReader::integer(std::int64_t lowest, std::int64_t highest) const {
  const bool huge =
      value->is_number_unsigned() && value->get<std::uint64_t>() > std::uint64_t{INT64_MAX};
  if (value->is_number_integer() && !huge) {
    const auto number = value->get<std::int64_t>();
    if (number >= lowest && number <= highest) {
      return number;
    }
  }
  complain(fmt::format("expected an integer from {} to {}", lowest, highest));
  return lowest;
}

std::size_t JsonReader::choice(std::span<const std::string_view> choices) const {
  if (value->is_string()) {
    const auto found =
        std::find(choices.begin(), choices.end(), value->get_ref<const std::string &>());
    if (found != choices.end()) {
      return static_cast<std::size_t>(found - choices.begin());
    }
  }
  complain(fmt::format("expected one of {}", fmt::join(choices, ", ")));
  return 0;
}

} // namespace kw
