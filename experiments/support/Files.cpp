// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/support/Files.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace kw {
namespace {

template <typename Container> Expected<Container> readFile(const std::filesystem::path &path) {
  std::error_code status;
  if (std::filesystem::is_directory(path, status)) {
    return badInput(fmt::format("{}: is a folder, not a file", path.string()));
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    return badInput(fmt::format("{}: {}", path.string(), std::strerror(errno)));
  }
  Container contents{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (stream.bad()) {
    return badInput(fmt::format("{}: {}", path.string(), std::strerror(errno)));
  }
  return contents;
}

tl::unexpected<Error> cannotWrite(const std::filesystem::path &path, std::string_view reason) {
  return failed(fmt::format("cannot write {}: {}", path.string(), reason));
}

} // namespace

Expected<std::string> readText(const std::filesystem::path &path) {
  return readFile<std::string>(path);
}

Expected<std::vector<std::uint8_t>> readBytes(const std::filesystem::path &path) {
  return readFile<std::vector<std::uint8_t>>(path);
}

Expected<void> writeFile(const std::filesystem::path &path, std::span<const std::uint8_t> bytes) {
  std::error_code status;
  if (path.has_parent_path()) {
    std::filesystem::create_directories(path.parent_path(), status);
    if (status) {
      return cannotWrite(path.parent_path(), status.message());
    }
  }
  std::filesystem::path partial = path;
  partial += fmt::format(".{}.partial", ::getpid());
  std::ofstream stream(partial, std::ios::binary | std::ios::trunc);
  stream.write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (!stream) {
    const int error = errno;
    std::filesystem::remove(partial, status);
    return cannotWrite(path, std::strerror(error));
  }
  std::filesystem::rename(partial, path, status);
  if (status) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    return cannotWrite(path, status.message());
  }
  return {};
}

Expected<void> writeFile(const std::filesystem::path &path, std::string_view text) {
  return writeFile(path,
                   std::span(reinterpret_cast<const std::uint8_t *>(text.data()), text.size()));
}

} // namespace kw
