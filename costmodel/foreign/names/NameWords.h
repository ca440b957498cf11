// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernel names as words between underscores; numbers within words.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace kw {

class NameWords {
public:
  explicit NameWords(std::string_view name);

  std::size_t size() const { return words.size(); }
  std::string_view operator[](std::size_t i) const { return words[i]; }
  bool has(std::string_view word) const;
  /// The number in the first word that is `prefix` and a number: number("w") of a_w3 is 3.
  std::optional<int> number(std::string_view prefix) const;
  /// The first word, from `from` on, that is `count` numbers with x between, optionally behind
  /// `prefix`. Its position or size().
  std::size_t findNumbers(std::size_t count, std::size_t from = 0,
                          std::string_view prefix = {}) const;
  std::vector<int> numbers(std::size_t i, std::string_view prefix = {}) const;

private:
  std::vector<std::string_view> words;
};

/// "16x64x256": 16 64 256. Empty: other characters in between, or numbers beyond an int.
std::vector<int> numbersOf(std::string_view word);
std::optional<int> numberOf(std::string_view word);

} // namespace kw
