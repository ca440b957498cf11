// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files in and out. A written file appears under its name only when it is complete. Errors
// are one line that names the path and the reason: what is not there or not permitted is bad input,
// a full disk or a failing device is a failure.
#pragma once

#include "ir/support/Expected.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// Without `.`, `..` or a trailing slash; need not exist.
std::filesystem::path absolutePath(const std::filesystem::path &path);

Expected<std::string> readText(const std::filesystem::path &path);
Expected<std::vector<std::uint8_t>> readBytes(const std::filesystem::path &path);

/// Creates missing parent folders. Written beside `path`, flushed to the device, then renamed.
Expected<void> writeFile(const std::filesystem::path &path, std::span<const std::uint8_t> bytes);
Expected<void> writeFile(const std::filesystem::path &path, std::string_view text);

/// Adds to a file that is there; what was added stays if the program is killed.
Expected<void> appendToFile(const std::filesystem::path &path, std::string_view text);

/// Makes the folder with its parents and proves that a file can be made in it, so that long work
/// does not end at a folder that cannot be written.
Expected<void> makeWritableFolder(const std::filesystem::path &folder);

/// A line of a text file without its end; numbers count from 1.
struct TextLine {
  int number = 0;
  std::string text;
};
/// `#` starts a comment; blank lines are left out.
Expected<std::vector<TextLine>> readLines(const std::filesystem::path &path);

} // namespace kw
