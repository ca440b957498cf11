// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One process writes a store at a time. The lock is a file beside it that is locked in the kernel,
// so it goes with its holder, however that ends; its text says who holds it.
#pragma once

#include "ir/support/Expected.h"

#include <filesystem>

namespace kw {

class WriterLock {
public:
  /// FILE.lock. The error names the process that holds it.
  static Expected<WriterLock> take(const std::filesystem::path &store);

  WriterLock(WriterLock &&other) noexcept;
  WriterLock &operator=(WriterLock &&) = delete;
  ~WriterLock();

private:
  explicit WriterLock(int descriptor) : descriptor(descriptor) {}
  int descriptor;
};

} // namespace kw
