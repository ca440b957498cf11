// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files in and out. A written file appears under its name only when it is complete.
#pragma once

#include "ir/support/Expected.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// Errors (badInput) name the path and the reason.
Expected<std::string> readText(const std::filesystem::path &path);
Expected<std::vector<std::uint8_t>> readBytes(const std::filesystem::path &path);

/// Creates missing parent folders. Errors (failed) name the path and the reason.
Expected<void> writeFile(const std::filesystem::path &path, std::span<const std::uint8_t> bytes);
Expected<void> writeFile(const std::filesystem::path &path, std::string_view text);

} // namespace kw
