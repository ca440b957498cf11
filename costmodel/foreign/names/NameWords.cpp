// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/foreign/names/NameWords.h"

#include <algorithm>
#include <charconv>

namespace kw {

std::optional<int> numberOf(std::string_view word) {
  int value = 0;
  const char *end = word.data() + word.size();
  const auto [stopped, error] = std::from_chars(word.data(), end, value);
  constexpr int most = 1 << 20;
  const bool whole = !word.empty() && error == std::errc{} && stopped == end;
  return whole && value >= 0 && value <= most ? std::optional(value) : std::nullopt;
}

std::vector<int> numbersOf(std::string_view word) {
  std::vector<int> numbers;
  while (!word.empty()) {
    const std::size_t end = std::min(word.find('x'), word.size());
    const std::optional<int> number = numberOf(word.substr(0, end));
    if (!number || end + 1 == word.size()) {
      return {};
    }
    numbers.push_back(*number);
    word.remove_prefix(std::min(end + 1, word.size()));
  }
  return numbers;
}

NameWords::NameWords(std::string_view name) {
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('_'), name.size());
    if (end > 0) {
      words.push_back(name.substr(0, end));
    }
    name.remove_prefix(std::min(end + 1, name.size()));
  }
}

bool NameWords::has(std::string_view word) const {
  return std::ranges::find(words, word) != words.end();
}

std::optional<int> NameWords::number(std::string_view prefix) const {
  for (const std::string_view word : words) {
    if (word.starts_with(prefix)) {
      if (const std::optional<int> number = numberOf(word.substr(prefix.size()))) {
        return number;
      }
    }
  }
  return std::nullopt;
}

std::vector<int> NameWords::numbers(std::size_t i, std::string_view prefix) const {
  return i < words.size() && words[i].starts_with(prefix)
             ? numbersOf(words[i].substr(prefix.size()))
             : std::vector<int>{};
}

std::size_t NameWords::findNumbers(std::size_t count, std::size_t from,
                                   std::string_view prefix) const {
  for (std::size_t i = from; i < words.size(); ++i) {
    if (numbers(i, prefix).size() == count) {
      return i;
    }
  }
  return words.size();
}

} // namespace kw
