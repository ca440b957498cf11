// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that costs only what is touched.
#pragma once

#include "ir/support/Expected.h"

#include <cstddef>
#include <cstdint>

namespace kw {

/// Anonymous pages, zero until touched.
class LazyPages {
public:
  static constexpr std::size_t pageBytes = 4096;

  LazyPages() = default;
  static Expected<LazyPages> reserve(std::size_t bytes);
  LazyPages(LazyPages &&other) noexcept;
  LazyPages &operator=(LazyPages &&other) noexcept;
  ~LazyPages();
  std::uint8_t *data() const { return pages; }
  /// `count` pages from page `first` on are zero again and cost nothing. Threads may be reading
  /// them.
  void forget(std::size_t first, std::size_t count) const;

private:
  std::uint8_t *pages = nullptr;
  std::size_t bytes = 0;
};

} // namespace kw
