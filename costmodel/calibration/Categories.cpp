// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/calibration/Categories.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kw {
namespace {

constexpr std::array<std::pair<std::string_view, std::string ModelCase::*>, 5> categories{{
    {"dtype", &ModelCase::dtype},
    {"generator", &ModelCase::generator},
    {"variant", &ModelCase::variant},
    {"kernel", &ModelCase::kernel},
    {"family", &ModelCase::family},
}};

} // namespace

std::string ModelCase::*categoryNamed(std::string_view name) {
  const auto *found = std::ranges::find(categories, name, [](const auto &c) { return c.first; });
  return found == categories.end() ? nullptr : found->second;
}

std::string categoryKey(std::span<const std::string> names, const ModelCase &modelCase) {
  std::string key;
  for (std::size_t i = 0; i < names.size(); ++i) {
    key += i == 0 ? "" : "|";
    key += modelCase.*categoryNamed(names[i]);
  }
  return key;
}

} // namespace kw
