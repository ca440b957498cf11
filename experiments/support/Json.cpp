// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/support/Json.h"

#include <fmt/format.h>
#include <set>
#include <vector>

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

std::string textOf(const Json &value, const char *key) {
  const auto found = value.is_object() ? value.find(key) : value.end();
  return found != value.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string repeatedKey(std::string_view text) {
  std::vector<std::set<std::string>> open; // keys of the objects around the place
  std::string repeated;
  const auto watch = [&](int, nlohmann::json::parse_event_t event, nlohmann::json &value) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start) {
      open.emplace_back();
    } else if (event == Event::object_end) {
      open.pop_back();
    } else if (event == Event::key) {
      const auto &name = value.get_ref<const std::string &>();
      if (!open.back().insert(name).second && repeated.empty()) {
        repeated = name;
      }
    }
    return true;
  };
  const nlohmann::json json = nlohmann::json::parse(text, watch, /*allow_exceptions=*/false);
  return json.is_discarded() ? std::string() : repeated;
}

} // namespace kw
