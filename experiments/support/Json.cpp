// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/support/Json.h"

#include <fmt/format.h>

namespace kw {

std::string printJson(const Json &json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Expected<nlohmann::json> parseJson(std::string_view text, std::string_view where) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return badInput(fmt::format("{}: is not JSON", where));
  }
  return json;
}

} // namespace kw
