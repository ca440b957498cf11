// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/store/WriterLock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace kw {

Expected<WriterLock> WriterLock::take(const std::filesystem::path &store) {
  const std::string file = store.string() + ".lock";
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    return badInput(
        fmt::format("{}: store cannot be written: {}", store.string(), std::strerror(errno)));
  }
  WriterLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return failed(fmt::format("{}: {}", file, std::strerror(errno)));
    }
    char holder[32] = {};
    const ssize_t count = ::pread(descriptor, holder, sizeof holder - 1, 0);
    return failed(fmt::format("{}: process {} is writing this store; wait for it, or name another "
                              "with --db",
                              store.string(), count > 0 ? holder : "(just starting)"));
  }
  const std::string self = fmt::format("{}", ::getpid());
  if (::ftruncate(descriptor, 0) != 0 ||
      ::pwrite(descriptor, self.data(), self.size(), 0) != static_cast<ssize_t>(self.size())) {
    return failed(fmt::format("{}: {}", file, std::strerror(errno)));
  }
  return lock;
}

WriterLock::WriterLock(WriterLock &&other) noexcept
    : descriptor(std::exchange(other.descriptor, -1)) {}

WriterLock::~WriterLock() {
  if (descriptor >= 0) {
    ::close(descriptor); // the file stays: removing it would let two processes lock two files
  }
}

} // namespace kw
