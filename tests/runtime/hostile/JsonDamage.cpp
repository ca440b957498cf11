// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "JsonDamage.h"

#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kw::test {
namespace {

using Json = nlohmann::json;

void collect(Json &json, std::vector<Json *> &nodes) {
  nodes.push_back(&json);
  if (json.is_structured()) {
    for (Json &child : json) {
      collect(child, nodes);
    }
  }
}

Json nested(std::size_t depth) {
  Json json = 0;
  for (std::size_t i = 0; i < depth; ++i) {
    json = i % 2 ? Json{{"a", std::move(json)}} : Json::array({std::move(json)});
  }
  return json;
}

Json strangeNumber(std::mt19937_64 &random) {
  static const Json numbers[] = {0,
                                 1,
                                 -1,
                                 3,
                                 63,
                                 64,
                                 65,
                                 1024,
                                 1025,
                                 0x7fffffff,
                                 0x80000000u,
                                 0xffffffffu,
                                 std::int64_t{1} << 32,
                                 std::int64_t{1} << 36,
                                 (std::int64_t{1} << 47) - 1,
                                 std::int64_t{1} << 47,
                                 INT64_MAX,
                                 INT64_MIN,
                                 UINT64_MAX,
                                 0.5,
                                 -1e308,
                                 1e-320};
  return numbers[random() % std::size(numbers)];
}

Json strangeValue(std::mt19937_64 &random) {
  switch (random() % 12) {
  case 0:
    return nullptr;
  case 1:
    return true;
  case 2:
    return Json::array();
  case 3:
    return Json::object();
  case 4:
    return nested(random() % 200);
  case 5:
    return std::string(random() % 5000, static_cast<char>('0' + random() % 64));
  case 6:
    return std::string("a\0b", 3);
  case 7:
    return escapes[random() % std::size(escapes)];
  default:
    return strangeNumber(random);
  }
}

void changeNumber(Json &node, std::mt19937_64 &random) {
  if (!node.is_number_integer()) {
    node = strangeNumber(random);
    return;
  }
  const auto value = node.get<std::uint64_t>();
  static constexpr std::int64_t steps[] = {-8, -4, -1, 1, 2, 4, 8, 256};
  node = random() % 2 ? value + static_cast<std::uint64_t>(steps[random() % std::size(steps)])
                      : value << random() % 40;
}

} // namespace

void damageJson(Json &json, std::mt19937_64 &random) {
  std::vector<Json *> nodes;
  collect(json, nodes);
  Json &node = *nodes[random() % nodes.size()];
  const unsigned how = random() % 8;
  if (node.is_structured() && !node.empty() && how < 3) {
    const auto child = std::next(node.begin(), static_cast<std::ptrdiff_t>(random() % node.size()));
    if (how == 0) {
      node.erase(child);
    } else if (node.is_array()) {
      node.push_back(*child);
    } else {
      node["another"] = *child;
    }
  } else if (how == 3) {
    node = Json(*nodes[random() % nodes.size()]);
  } else if (node.is_number() && how < 7) {
    changeNumber(node, random);
  } else {
    node = strangeValue(random);
  }
}

} // namespace kw::test
