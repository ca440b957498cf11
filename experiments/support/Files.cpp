// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/support/Files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sstream>
#include <unistd.h>

namespace kw {

namespace fs = std::filesystem;

namespace {

/// The error of a failed system call on `path`.
tl::unexpected<Error> systemError(std::string_view what, const fs::path &path, int code) {
  constexpr int ofInput[] = {EACCES, EPERM,  EROFS,  ENOENT,      ENOTDIR,
                             EISDIR, EEXIST, EINVAL, ENAMETOOLONG};
  const bool input = std::find(std::begin(ofInput), std::end(ofInput), code) != std::end(ofInput);
  return tl::unexpected<Error>(
      Error{input ? Error::Kind::badInput : Error::Kind::failed,
            fmt::format("{}: {}: {}", path.string(), what, std::strerror(code))});
}

/// Closes on every way out.
class FileDescriptor {
public:
  explicit FileDescriptor(int descriptor) : descriptor(descriptor) {}
  FileDescriptor(const FileDescriptor &) = delete;
  FileDescriptor &operator=(const FileDescriptor &) = delete;
  ~FileDescriptor() {
    if (descriptor >= 0) {
      ::close(descriptor);
    }
  }
  int get() const { return descriptor; }

private:
  int descriptor;
};

/// What ends the reading of a device or pipe that never ends; no file of ours comes near.
constexpr std::size_t maximumBytes = std::size_t(1) << 28;

template <typename Container> Expected<Container> readWhole(const fs::path &path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    return systemError("cannot be read", path, errno);
  }
  Container contents;
  char buffer[1 << 16];
  while (true) {
    const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return systemError("cannot be read", path, errno);
    }
    if (count == 0) {
      return contents;
    }
    contents.insert(contents.end(), buffer, buffer + count);
    if (contents.size() > maximumBytes) {
      return badInput(fmt::format("{}: larger than {} bytes", path.string(), maximumBytes));
    }
  }
}

/// 0, or the errno.
int writeAll(int descriptor, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(descriptor, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return errno;
    }
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// 0, or the errno.
int writePartial(const fs::path &partial, std::string_view contents) {
  const FileDescriptor file(
      ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) {
    return errno;
  }
  if (const int code = writeAll(file.get(), contents); code != 0) {
    return code;
  }
  return ::fsync(file.get()) == 0 ? 0 : errno;
}

Expected<void> makeFolder(const fs::path &folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) {
    return systemError("folder cannot be made", folder, code.value());
  }
  return {};
}

} // namespace

fs::path absolutePath(const fs::path &path) {
  std::error_code ignored;
  const fs::path absolute = fs::absolute(path, ignored).lexically_normal();
  const bool endsInSlash = !absolute.has_filename() && absolute != absolute.root_path();
  return endsInSlash ? absolute.parent_path() : absolute;
}

Expected<std::string> readText(const fs::path &path) { return readWhole<std::string>(path); }

Expected<std::vector<std::uint8_t>> readBytes(const fs::path &path) {
  return readWhole<std::vector<std::uint8_t>>(path);
}

Expected<void> writeFile(const fs::path &path, std::string_view text) {
  if (path.has_parent_path()) {
    if (Expected<void> made = makeFolder(path.parent_path()); !made) {
      return made;
    }
  }
  const fs::path partial = fmt::format("{}.{}.partial", path.string(), ::getpid());
  int code = writePartial(partial, text);
  if (code == 0 && ::rename(partial.c_str(), path.c_str()) != 0) {
    code = errno;
  }
  if (code != 0) {
    ::unlink(partial.c_str());
    return systemError("cannot be written", path, code);
  }
  return {};
}

Expected<void> writeFile(const fs::path &path, std::span<const std::uint8_t> bytes) {
  return writeFile(path,
                   std::string_view(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
}

Expected<void> appendToFile(const fs::path &path, std::string_view text) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  const int code = file.get() < 0 ? errno : writeAll(file.get(), text);
  if (code != 0) {
    return systemError("cannot be written", path, code);
  }
  return {};
}

Expected<void> makeWritableFolder(const fs::path &folder) {
  if (Expected<void> made = makeFolder(folder); !made) {
    return made;
  }
  std::string probe = (folder / ".kw-XXXXXX").string();
  const int descriptor = ::mkstemp(probe.data());
  if (descriptor < 0) {
    return systemError("folder cannot be written", folder, errno);
  }
  ::close(descriptor);
  ::unlink(probe.c_str());
  return {};
}

Expected<std::vector<TextLine>> readLines(const fs::path &path) {
  const Expected<std::string> contents = readText(path);
  if (!contents) {
    return tl::unexpected(contents.error());
  }
  std::vector<TextLine> lines;
  std::istringstream stream(*contents);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    line.erase(std::min(line.find('#'), line.size()));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos) {
      continue;
    }
    const std::size_t last = line.find_last_not_of(" \t\r");
    lines.push_back({number, line.substr(first, last - first + 1)});
  }
  return lines;
}

} // namespace kw
