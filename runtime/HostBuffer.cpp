// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/HostBuffer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kw {
namespace {

/// Owner of a file descriptor.
class Descriptor {
public:
  explicit Descriptor(int number) : number(number) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() {
    if (number >= 0) {
      close(number);
    }
  }
  int get() const { return number; }

private:
  int number;
};

constexpr int pages = PROT_READ | PROT_WRITE;

/// Poison below this size is written; above it is one piece of poison, mapped over and over.
constexpr std::size_t poisonPiece = std::size_t{4} << 20;

/// A file of poison that exists only as long as it is open or mapped; -1 if there is no room.
int openPoison() {
  const int file = memfd_create("poison", MFD_CLOEXEC);
  const std::vector<std::uint8_t> piece(poisonPiece, HostBuffer::poison);
  if (file >= 0 && write(file, piece.data(), piece.size()) != static_cast<ssize_t>(piece.size())) {
    close(file);
    return -1;
  }
  return file;
}

bool mapPoison(std::uint8_t *to, std::size_t bytes) {
  const Descriptor file(openPoison());
  if (file.get() < 0) {
    return false;
  }
  for (std::size_t at = 0; at < bytes; at += poisonPiece) {
    const std::size_t size = std::min(poisonPiece, bytes - at);
    if (mmap(to + at, size, pages, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file.get(), 0) ==
        MAP_FAILED) {
      return false;
    }
  }
  return true;
}

} // namespace

HostBuffer::HostBuffer(HostBuffer &&other) noexcept
    : contents(std::exchange(other.contents, {})), mapped(std::exchange(other.mapped, 0)) {}

HostBuffer &HostBuffer::operator=(HostBuffer &&other) noexcept {
  std::swap(contents, other.contents);
  std::swap(mapped, other.mapped);
  return *this;
}

HostBuffer::~HostBuffer() {
  if (mapped != 0) {
    munmap(contents.data(), mapped);
  }
}

Expected<HostBuffer> HostBuffer::zeroed(std::int64_t bytes) {
  HostBuffer buffer;
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
  void *memory = mmap(nullptr, size, pages, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return failed(fmt::format("cannot reserve {} bytes of memory: {}", bytes, strerror(errno)));
  }
  buffer.mapped = size;
  buffer.contents = {static_cast<std::uint8_t *>(memory), static_cast<std::size_t>(bytes)};
  return buffer;
}

Expected<HostBuffer> HostBuffer::poisoned(std::int64_t bytes) {
  Expected<HostBuffer> buffer = zeroed(bytes);
  if (!buffer) {
    return buffer;
  }
  const std::span<std::uint8_t> contents = buffer->bytes();
  if (contents.size() < poisonPiece) {
    std::fill(contents.begin(), contents.end(), poison);
  } else if (!mapPoison(contents.data(), contents.size())) {
    return failed(fmt::format("cannot map {} bytes of memory: {}", bytes, strerror(errno)));
  }
  return buffer;
}

Expected<HostBuffer> HostBuffer::ofFile(const std::filesystem::path &file, std::int64_t bytes) {
  const Descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status{};
  if (opened.get() < 0 || fstat(opened.get(), &status) != 0) {
    return badInput(fmt::format("{}: {}", file.string(), strerror(errno)));
  }
  if (!S_ISREG(status.st_mode)) {
    return badInput(fmt::format("{}: not a regular file", file.string()));
  }
  if (status.st_size != bytes) {
    return badInput(fmt::format("{}: has {} bytes, the buffer {}", file.string(),
                                static_cast<std::int64_t>(status.st_size), bytes));
  }
  if (bytes == 0) {
    return zeroed(0);
  }
  HostBuffer buffer;
  const auto size = static_cast<std::size_t>(bytes);
  void *memory = mmap(nullptr, size, pages, MAP_PRIVATE | MAP_NORESERVE, opened.get(), 0);
  if (memory == MAP_FAILED) {
    return failed(fmt::format("{}: {}", file.string(), strerror(errno)));
  }
  buffer.mapped = size;
  buffer.contents = {static_cast<std::uint8_t *>(memory), size};
  return buffer;
}

std::size_t firstOtherByte(std::span<const std::uint8_t> bytes, std::uint8_t byte) {
  constexpr std::size_t step = 4096;
  std::array<std::uint8_t, step> expected{};
  expected.fill(byte);
  std::size_t at = 0;
  while (at + step <= bytes.size() && std::memcmp(bytes.data() + at, expected.data(), step) == 0) {
    at += step;
  }
  while (at < bytes.size() && bytes[at] == byte) {
    ++at;
  }
  return at;
}

} // namespace kw
