// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/LazyPages.h"

#include <algorithm>
#include <fmt/core.h>
#include <sys/mman.h>
#include <utility>

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#endif

namespace kw {

namespace {

#if defined(__SANITIZE_ADDRESS__)
#define KW_FENCED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KW_FENCED 1
#endif
#endif

#ifdef KW_FENCED
/// The sanitizer knows nothing of pages: tells it where they end, and a page more is reserved.
constexpr std::size_t fence = 4096;
void setFence(std::uint8_t *pages, std::size_t used, std::size_t size) {
  ASAN_POISON_MEMORY_REGION(pages + used, size - used);
}
void removeFence(std::uint8_t *pages, std::size_t size) {
  ASAN_UNPOISON_MEMORY_REGION(pages + size - fence - 1, fence + 1);
}
#else
constexpr std::size_t fence = 0;
void setFence(std::uint8_t *, std::size_t, std::size_t) {}
void removeFence(std::uint8_t *, std::size_t) {}
#endif

} // namespace

Expected<LazyPages> LazyPages::reserve(std::size_t bytes) {
  LazyPages result;
  const std::size_t size = std::max<std::size_t>(bytes, 1) + fence;
  void *pages = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) {
    return failed(fmt::format("cannot reserve {} bytes of memory", bytes));
  }
  result.pages = static_cast<std::uint8_t *>(pages);
  result.bytes = size;
  setFence(result.pages, bytes, size);
  return result;
}

LazyPages::LazyPages(LazyPages &&other) noexcept
    : pages(std::exchange(other.pages, nullptr)), bytes(std::exchange(other.bytes, 0)) {}

LazyPages &LazyPages::operator=(LazyPages &&other) noexcept {
  std::swap(pages, other.pages);
  std::swap(bytes, other.bytes);
  return *this;
}

LazyPages::~LazyPages() {
  if (pages) {
    removeFence(pages, bytes);
    munmap(pages, bytes);
  }
}

void LazyPages::forget(std::size_t first, std::size_t count) const {
  madvise(pages + first * pageBytes, count * pageBytes, MADV_DONTNEED);
}

} // namespace kw
