// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which bytes of an allocation are defined: a bit each. Threads may set neighbours.
//
// A page of bits stands for 32 KiB. Once all of these are defined, which is what kernels do to
// their outputs, the page is given back and a count is left: whole outputs end up with next to
// nothing.
#pragma once

#include "runtime/emulator/LazyPages.h"

#include <algorithm>
#include <bit>

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
      // In this order: the count is complete before the page goes.
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
  static constexpr std::uint64_t wordsPerPage = LazyPages::pageBytes / 8;
  static constexpr std::uint32_t completeCount = 64 * wordsPerPage;

  /// What of [first, end) lies in the word of `first`.
  struct Part {
    Part(std::uint64_t first, std::uint64_t end)
        : word(first / 64), end(std::min(end, 64 * word + 64)),
          mask((~std::uint64_t{0} >> (64 - (this->end - first))) << first % 64) {}
    std::uint64_t word, end, mask;
  };

  std::uint64_t *wordAt(std::uint64_t index) const {
    return reinterpret_cast<std::uint64_t *>(words.data()) + index;
  }
  std::uint32_t *countAt(std::uint64_t page) const {
    return reinterpret_cast<std::uint32_t *>(counts.data()) + page;
  }
  std::uint64_t load(std::uint64_t index) const {
    return __atomic_load_n(wordAt(index), __ATOMIC_ACQUIRE);
  }
  bool isComplete(std::uint64_t page) const {
    return __atomic_load_n(countAt(page), __ATOMIC_ACQUIRE) >= completeCount;
  }
  void setPart(std::uint64_t word, std::uint64_t mask) const;

  LazyPages words, counts; ///< of 64 bytes each; of bytes that are set, by page of `words`
};

} // namespace kw
