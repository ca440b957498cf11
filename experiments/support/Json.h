// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON as we print it: keys in the order written, UTF-8, and never NaN or Infinity (null instead).
#pragma once

#include "ir/support/Expected.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace kw {

using Json = nlohmann::ordered_json;

/// `indent` -1: one line. Bytes that are not UTF-8 become U+FFFD.
std::string printJson(const Json &json, int indent = -1);

/// `where` names the document in the error, which is one line.
Expected<nlohmann::json> parseJson(std::string_view text, std::string_view where);

/// The text under a key; empty: none, or something else.
std::string textOf(const Json &value, const char *key);

/// The first key that an object of `text` has twice, empty if none: parsers keep one and say
/// nothing.
std::string repeatedKey(std::string_view text);

} // namespace kw
