// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/ByteFlags.h"

namespace kw {

Expected<ByteFlags> ByteFlags::reserve(std::uint64_t bytes) {
  const std::uint64_t wordCount = (bytes / 64 / wordsPerLine + 1) * wordsPerLine;
  const std::uint64_t pageCount = wordCount / wordsPerPage + 1;
  auto words = LazyPages::reserve(8 * wordCount);
  auto lines = LazyPages::reserve(8 * pageCount);
  auto pages = LazyPages::reserve(8 * (pageCount / pagesPerGroup + 1));
  for (const auto *reserved : {&words, &lines, &pages}) {
    if (!*reserved) {
      return tl::unexpected<Error>(reserved->error());
    }
  }
  ByteFlags flags;
  flags.words = std::move(*words);
  flags.lines = std::move(*lines);
  flags.pages = std::move(*pages);
  return flags;
}

bool ByteFlags::isLineComplete(std::uint64_t word) const {
  const std::uint64_t first = word / wordsPerLine * wordsPerLine;
  for (std::uint64_t i = first; i < first + wordsPerLine; ++i) {
    if (load(i) != full) {
      return false;
    }
  }
  return true;
}

// Of threads that complete the words of a line, or what is above, at the same time, the last one
// sees it: all is sequentially consistent. Several may see it, which does no harm.
void ByteFlags::setPart(std::uint64_t word, std::uint64_t mask) const {
  const std::uint64_t page = word / wordsPerPage;
  if (isComplete(page)) {
    return;
  }
  const auto set = [](std::uint64_t *bits, std::uint64_t more) {
    return (__atomic_fetch_or(bits, more, __ATOMIC_SEQ_CST) | more) == full;
  };
  const auto bit = [](std::uint64_t index) { return std::uint64_t{1} << index % 64; };
  if (set(at(words, word), mask) && isLineComplete(word) &&
      set(at(lines, page), bit(word / wordsPerLine)) &&
      set(at(pages, page / pagesPerGroup), bit(page))) {
    words.forget(page / pagesPerGroup * pagesPerGroup, pagesPerGroup);
  }
}

} // namespace kw
