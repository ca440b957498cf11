// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/support/KeyValues.h"

#include "ir/support/TextList.h"

#include <algorithm>
#include <fmt/format.h>

namespace kw {

KeyValues::KeyValues(std::string_view subject, std::span<const std::string_view> items,
                     std::span<const Key> keys)
    : subject(subject), keys(keys) {
  for (std::string_view item : items) {
    add(item);
  }
  for (const Key &key : keys) {
    if (key.required && !has(key.name)) {
      complain(fmt::format("key {} is missing; required: {}", quoted(key.name), keyList(true)));
    }
  }
}

void KeyValues::add(std::string_view item) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos) {
    return complain(fmt::format("{} is not of the form key=value; accepted keys: {}", quoted(item),
                                keyList(false)));
  }
  const std::string_view name = item.substr(0, equals);
  const std::string_view value = item.substr(equals + 1);
  const Key *key = find(name);
  if (!key) {
    return complain(fmt::format("unknown key {}; accepted keys: {}", quoted(name), keyList(false)));
  }
  if (has(name)) {
    return complain(fmt::format("key {} is given twice; give it once", quoted(name)));
  }
  if (value.empty()) {
    complain(fmt::format("key {} has no value; accepted: {}", quoted(name), key->accepts));
  }
  values.emplace_back(key->name, value);
}

const Key *KeyValues::find(std::string_view key) const {
  const auto at = std::ranges::find(keys, key, &Key::name);
  return at == keys.end() ? nullptr : &*at;
}

std::string KeyValues::keyList(bool requiredOnly) const {
  std::vector<std::string_view> names;
  for (const Key &key : keys) {
    if (key.required || !requiredOnly) {
      names.push_back(key.name);
    }
  }
  return joined(names, " ");
}

std::optional<std::string_view> KeyValues::text(std::string_view key) const {
  for (const auto &[name, value] : values) {
    if (name == key) {
      return value;
    }
  }
  return std::nullopt;
}

void KeyValues::complain(std::string_view message) {
  if (!firstComplaint) {
    firstComplaint = Error{Error::Kind::badInput, fmt::format("{}: {}", subject, message)};
  }
}

void KeyValues::reject(std::string_view key) {
  const Key *row = find(key);
  complain(fmt::format("{} is not a value of key \"{}\"; accepted: {}",
                       quoted(text(key).value_or("")), key, row ? row->accepts : ""));
}

std::int64_t KeyValues::integer(std::string_view key, std::int64_t lowest, std::int64_t highest,
                                std::int64_t otherwise) {
  const auto value = text(key);
  if (!value) {
    return otherwise;
  }
  const auto number = parseInteger(*value);
  if (!number || *number < lowest || *number > highest) {
    reject(key);
    return otherwise;
  }
  return *number;
}

double KeyValues::real(std::string_view key, double otherwise) {
  const auto value = text(key);
  if (!value) {
    return otherwise;
  }
  const auto number = parseReal(*value);
  if (!number) {
    reject(key);
  }
  return number.value_or(otherwise);
}

bool KeyValues::flag(std::string_view key, bool otherwise) {
  return integer(key, 0, 1, otherwise ? 1 : 0) != 0;
}

std::size_t KeyValues::choice(std::string_view key, std::span<const std::string_view> names,
                              std::size_t otherwise) {
  const auto value = text(key);
  if (!value) {
    return otherwise;
  }
  const auto at = std::ranges::find(names, *value);
  if (at == names.end()) {
    reject(key);
    return otherwise;
  }
  return static_cast<std::size_t>(at - names.begin());
}

void KeyPrinter::add(std::string_view key, std::string_view value) {
  if (!result.empty()) {
    result += separator;
  }
  result += key;
  result += '=';
  result += value;
}

void KeyPrinter::addUnless(std::string_view key, std::int64_t value, std::int64_t otherwise) {
  if (value != otherwise) {
    add(key, value);
  }
}

void KeyPrinter::addUnless(std::string_view key, double value, double otherwise) {
  if (value != otherwise) {
    add(key, formatReal(value));
  }
}

} // namespace kw
