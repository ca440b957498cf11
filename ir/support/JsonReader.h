// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads JSON that others wrote. A reader is a value with the path that led to it; the first
// complaint of a document is kept, with that path, and reading goes on harmlessly with defaults,
// so that the code that reads is free of error handling and asks once at its end.
#pragma once

#include "ir/support/Expected.h"

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

class JsonReader {
public:
  /// `json` and `complaint` must outlive the reader and all readers made from it. `path` may be
  /// empty for the document itself.
  JsonReader(const nlohmann::json &json, std::string path, std::optional<Error> &complaint)
      : value(&json), path(std::move(path)), complaint(&complaint) {}

  const nlohmann::json &json() const { return *value; }
  bool has(const char *key) const { return value->is_object() && value->contains(key); }

  /// Keeps "PATH: MESSAGE" as the document's error unless there is one already.
  void complain(std::string_view message) const;

  /// The value of a required key; of a missing one a null that complains no further.
  JsonReader at(const char *key) const;
  /// Complains unless this is an object that has no other keys than these.
  void allowOnly(std::initializer_list<std::string_view> keys) const;

  std::vector<JsonReader> elements() const; ///< of an array
  std::vector<std::pair<std::string, JsonReader>> members() const;
  std::string string() const; ///< not empty
  std::int64_t integer(std::int64_t lowest, std::int64_t highest) const;
  /// The index of the string among `choices`; 0 after a complaint.
  std::size_t choice(std::span<const std::string_view> choices) const;

private:
  const nlohmann::json *value;
  std::string path;
  std::optional<Error> *complaint;
};

/// A string of a foreign document for a one-line message: quoted, escaped, cut to a sane length.
std::string quotedText(std::string_view text);

} // namespace kw
