// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/SavedFiles.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <system_error>

namespace kw {
namespace {

namespace fs = std::filesystem;

/// With links resolved as far as the path exists.
fs::path resolved(const fs::path &path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  fs::path result = fs::weakly_canonical(absolute, error);
  return error ? absolute.lexically_normal() : result;
}

bool namesAFile(const fs::path &path) {
  const fs::path name = path.filename();
  return !name.empty() && name != "." && name != ".." &&
         path.native().find('\0') == std::string::npos;
}

bool isInside(const fs::path &file, const fs::path &folder) {
  const fs::path where = resolved(file.parent_path()), root = resolved(folder);
  return std::mismatch(root.begin(), root.end(), where.begin(), where.end()).first == root.end();
}

Expected<fs::path> fileOf(const Buffer &buffer, const fs::path &folder) {
  const fs::path name = buffer.save;
  if (!namesAFile(name)) {
    return badInput(fmt::format("buffer '{}': `save` names no file", buffer.name));
  }
  const fs::path file = fs::absolute(folder / name);
  if (!isInside(file, folder)) {
    return badInput(fmt::format("buffer '{}': `save` leads out of the manifest's folder ('{}'); "
                                "--save {}=FILE saves it elsewhere",
                                buffer.name, buffer.save, buffer.name));
  }
  return file.lexically_normal();
}

} // namespace

Expected<std::vector<fs::path>> savedFiles(const Manifest &manifest, const fs::path &folder,
                                           const SaveRequests &requests) {
  for (const auto &[name, file] : requests) {
    if (!manifest.findBuffer(name)) {
      return badInput(fmt::format("--save {}={}: the manifest has no such buffer", name, //
                                  file.string()));
    }
    if (!namesAFile(file)) {
      return badInput(fmt::format("--save {}={}: names no file", name, file.string()));
    }
  }
  std::vector<fs::path> files;
  std::set<fs::path> taken;
  for (const Buffer &buffer : manifest.buffers) {
    fs::path file;
    if (const auto request = requests.find(buffer.name); request != requests.end()) {
      file = fs::absolute(request->second).lexically_normal();
    } else if (!buffer.save.empty()) {
      Expected<fs::path> named = fileOf(buffer, folder);
      if (!named) {
        return tl::unexpected<Error>(named.error());
      }
      file = std::move(*named);
    }
    if (!file.empty() && !taken.insert(file).second) {
      return badInput(fmt::format("buffer '{}': another one is saved to {} already", buffer.name,
                                  file.string()));
    }
    files.push_back(std::move(file));
  }
  return files;
}

Expected<void> writeSaved(const fs::path &file, std::span<const std::uint8_t> bytes) {
  fs::path unfinished = file;
  unfinished += ".part";
  std::error_code error;
  fs::remove(unfinished, error); // not through a link that lies there
  std::ofstream stream(unfinished, std::ios::binary | std::ios::trunc);
  stream.write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  stream.close();
  const bool written = !stream.fail();
  const int why = errno;
  error.clear();
  if (written) {
    fs::rename(unfinished, file, error);
  }
  if (!written || error) {
    const std::string text = error ? error.message() : strerror(why);
    fs::remove(unfinished, error);
    return failed(fmt::format("{}: cannot be written: {}", file.string(), text));
  }
  return {};
}

} // namespace kw
