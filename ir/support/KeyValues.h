// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `key=value` lists against a table of keys: what problems and schedules are written in. The first
// complaint is kept and reading goes on harmlessly with defaults, so that the code that reads is
// free of error handling and asks once at its end.
#pragma once

#include "ir/support/Expected.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kw {

/// One key that may be written. `accepts` is what its value may be, for messages.
struct Key {
  std::string_view name;
  std::string accepts;
  bool required = false;
};

class KeyValues {
public:
  /// `items` are `key=value` texts. Complains of an item without '=', an unknown, repeated or
  /// missing key, an empty value. `subject` starts every message. All texts and `keys` must outlive
  /// this.
  KeyValues(std::string_view subject, std::span<const std::string_view> items,
            std::span<const Key> keys);

  /// nullopt: the key was not given.
  std::optional<std::string_view> text(std::string_view key) const;
  bool has(std::string_view key) const { return text(key).has_value(); }

  // Each gives `otherwise` when the key was not given or its value is not acceptable.
  std::int64_t integer(std::string_view key, std::int64_t lowest, std::int64_t highest,
                       std::int64_t otherwise);
  double real(std::string_view key, double otherwise);
  bool flag(std::string_view key, bool otherwise);
  /// Index into `names`.
  std::size_t choice(std::string_view key, std::span<const std::string_view> names,
                     std::size_t otherwise);

  /// Keeps "SUBJECT: MESSAGE" unless there is a complaint already.
  void complain(std::string_view message);
  /// Complains that the value of `key` is not what it accepts.
  void reject(std::string_view key);

  const std::optional<Error> &complaint() const { return firstComplaint; }

private:
  const Key *find(std::string_view key) const;
  void add(std::string_view item);
  std::string keyList(bool requiredOnly) const;

  std::string_view subject;
  std::span<const Key> keys;
  std::vector<std::pair<std::string_view, std::string_view>> values;
  std::optional<Error> firstComplaint;
};

/// Writes `key=value` lists with one separator.
class KeyPrinter {
public:
  explicit KeyPrinter(char separator) : separator(separator) {}

  void add(std::string_view key, std::string_view value);
  void add(std::string_view key, std::int64_t value) { add(key, std::to_string(value)); }
  /// Unless it is the default.
  void addUnless(std::string_view key, std::int64_t value, std::int64_t otherwise);
  void addUnless(std::string_view key, double value, double otherwise);

  const std::string &text() const { return result; }

private:
  char separator;
  std::string result;
};

} // namespace kw
