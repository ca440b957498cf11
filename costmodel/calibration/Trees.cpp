// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/calibration/Trees.h"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

using Json = nlohmann::json;

/// The list of numbers under `key`; empty where there is none.
template <typename T> std::vector<T> numbers(const Json &json, const char *key) {
  std::vector<T> list;
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array()) {
    return list;
  }
  for (const Json &value : *found) {
    if (!value.is_number() || (std::is_integral_v<T> && !value.is_number_integer())) {
      return {};
    }
    list.push_back(value.get<T>());
  }
  return list;
}

bool isChild(std::int32_t child, std::size_t parent, std::size_t nodes, std::size_t leaves) {
  return child < 0
             ? static_cast<std::size_t>(~child) < leaves
             : static_cast<std::size_t>(child) > parent && static_cast<std::size_t>(child) < nodes;
}

} // namespace

Expected<Trees> Trees::parse(const Json &json, std::size_t inputs) {
  if (!json.is_object()) {
    return badInput("trees: not an object");
  }
  Trees trees;
  trees.roots = numbers<std::int32_t>(json, "roots");
  trees.leaves = numbers<float>(json, "leaves");
  const auto input = numbers<std::int32_t>(json, "input");
  const auto threshold = numbers<float>(json, "threshold");
  const auto left = numbers<std::int32_t>(json, "left");
  const auto right = numbers<std::int32_t>(json, "right");
  const std::size_t count = input.size();
  if (threshold.size() != count || left.size() != count || right.size() != count) {
    return badInput("trees: input, threshold, left and right aren't lists of equal length");
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (input[i] < 0 || static_cast<std::size_t>(input[i]) >= inputs ||
        !std::isfinite(threshold[i]) || !isChild(left[i], i, count, trees.leaves.size()) ||
        !isChild(right[i], i, count, trees.leaves.size())) {
      return badInput(
          fmt::format("trees: node {} names an input, child or leaf that isn't there", i));
    }
    trees.nodes.push_back({threshold[i], input[i], left[i], right[i]});
  }
  for (const std::int32_t root : trees.roots) {
    if (root < 0 || static_cast<std::size_t>(root) >= count) {
      return badInput("trees: a root isn't a node");
    }
  }
  for (const float leaf : trees.leaves) {
    if (!std::isfinite(leaf)) {
      return badInput("trees: a leaf isn't finite");
    }
  }
  return trees;
}

double Trees::evaluate(std::span<const float> inputs) const {
  double sum = 0;
  for (std::int32_t at : roots) {
    while (at >= 0) {
      const Node &node = nodes[at];
      at = inputs[node.input] <= node.threshold ? node.left : node.right;
    }
    sum += leaves[~at];
  }
  return sum;
}

} // namespace kw
