// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/ByteFlags.h"

namespace kw {

Expected<ByteFlags> ByteFlags::reserve(std::uint64_t bytes) {
  const std::uint64_t wordCount = bytes / 64 + 1;
  auto words = LazyPages::reserve(8 * wordCount);
  auto counts = LazyPages::reserve(4 * (wordCount / wordsPerPage + 1));
  for (const auto *reserved : {&words, &counts}) {
    if (!*reserved) {
      return tl::unexpected<Error>(reserved->error());
    }
  }
  ByteFlags flags;
  flags.words = std::move(*words);
  flags.counts = std::move(*counts);
  return flags;
}

void ByteFlags::setPart(std::uint64_t word, std::uint64_t mask) const {
  const std::uint64_t page = word / wordsPerPage;
  if (isComplete(page)) {
    return;
  }
  const std::uint64_t before = __atomic_fetch_or(wordAt(word), mask, __ATOMIC_RELAXED);
  const auto added = static_cast<std::uint32_t>(std::popcount(mask & ~before));
  const std::uint32_t count = __atomic_fetch_add(countAt(page), added, __ATOMIC_ACQ_REL);
  if (count < completeCount && count + added >= completeCount) {
    words.forget(page);
  }
}

} // namespace kw
