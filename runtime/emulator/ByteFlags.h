// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which bytes of an allocation are defined: a bit each. Threads may set neighbours.
//
// Three levels: a bit a byte, a bit for 512 bytes (a line of words) that are all defined, a bit for
// 32 KiB (a page of words) that are. Once 2 MiB are defined, which is what kernels do to their
// outputs, their 64 pages are given back together: whole outputs end up with next to nothing. One
// page at a time would interrupt the other cores 64 times as often. A bit of an upper level is set
// once or a few times, so threads that store next to each other seldom meet.
#pragma once

#include "runtime/emulator/LazyPages.h"

#include <algorithm>
#include <cstdint>

namespace kw {

class ByteFlags {
public:
  ByteFlags() = default;
  static Expected<ByteFlags> reserve(std::uint64_t bytes);

  /// False: there are none, all count as set.
  explicit operator bool() const { return words.data() != nullptr; }
  bool all(std::uint64_t first, std::uint64_t count) const {
    for (const std::uint64_t end = first + count; first < end;) {
      const Part part(first, end);
      // In this order: the page is complete before it goes.
      if ((load(part.word) & part.mask) != part.mask && !isComplete(part.word / wordsPerPage)) {
        return false;
      }
      first = part.end;
    }
    return true;
  }
  void set(std::uint64_t first, std::uint64_t count) const {
    for (const std::uint64_t end = first + count; first < end;) {
      const Part part(first, end);
      if ((load(part.word) & part.mask) != part.mask) {
        setPart(part.word, part.mask);
      }
      first = part.end;
    }
  }

private:
  static constexpr std::uint64_t wordsPerLine = 8, linesPerPage = 64, pagesPerGroup = 64;
  static constexpr std::uint64_t wordsPerPage = wordsPerLine * linesPerPage;
  static constexpr std::uint64_t full = ~std::uint64_t{0};
  static_assert(8 * wordsPerPage == LazyPages::pageBytes);

  /// What of [first, end) lies in the word of `first`.
  struct Part {
    Part(std::uint64_t first, std::uint64_t end)
        : word(first / 64), end(std::min(end, 64 * word + 64)),
          mask((full >> (64 - (this->end - first))) << first % 64) {}
    std::uint64_t word, end, mask;
  };

  static std::uint64_t *at(const LazyPages &level, std::uint64_t index) {
    return reinterpret_cast<std::uint64_t *>(level.data()) + index;
  }
  std::uint64_t load(std::uint64_t word) const {
    return __atomic_load_n(at(words, word), __ATOMIC_SEQ_CST);
  }
  bool isComplete(std::uint64_t page) const {
    return __atomic_load_n(at(lines, page), __ATOMIC_SEQ_CST) == full;
  }
  bool isLineComplete(std::uint64_t word) const;
  void setPart(std::uint64_t word, std::uint64_t mask) const;

  LazyPages words; ///< a bit a byte
  LazyPages lines; ///< a word a page: which of its lines are complete
  LazyPages pages; ///< a word a group: which of its pages are complete
};

} // namespace kw
