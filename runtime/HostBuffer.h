// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host memory for the contents of device buffers, gigabytes of it if need be: only pages that are
// written cost memory.
#pragma once

#include "ir/support/Expected.h"

#include <cstdint>
#include <filesystem>
#include <span>

namespace kw {

class HostBuffer {
public:
  /// Poison is this byte everywhere: NaN in every floating point type that has NaN.
  static constexpr std::uint8_t poison = 0xFF;

  HostBuffer() = default;
  HostBuffer(HostBuffer &&other) noexcept;
  HostBuffer &operator=(HostBuffer &&other) noexcept;
  ~HostBuffer();

  static Expected<HostBuffer> zeroed(std::int64_t bytes);
  static Expected<HostBuffer> poisoned(std::int64_t bytes);
  /// The file's contents, copied when written to. Its size must be `bytes`.
  static Expected<HostBuffer> ofFile(const std::filesystem::path &file, std::int64_t bytes);

  std::span<std::uint8_t> bytes() const { return contents; }

private:
  std::span<std::uint8_t> contents;
  std::size_t mapped = 0;
};

/// Index of the first byte that differs from `byte`; `bytes.size()` if none does.
std::size_t firstOtherByte(std::span<const std::uint8_t> bytes, std::uint8_t byte);

} // namespace kw
