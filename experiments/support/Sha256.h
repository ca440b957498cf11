// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Content hashes of code objects, bundle files and store keys.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kw {

/// 64 lower-case hexadecimal digits.
std::string sha256(std::span<const std::uint8_t> bytes);
std::string sha256(std::string_view text);

} // namespace kw
