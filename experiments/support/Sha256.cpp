// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/support/Sha256.h"

#include <array>
#include <fmt/format.h>
#include <iterator>
#include <openssl/sha.h>

namespace kw {

std::string sha256(std::span<const std::uint8_t> bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(bytes.data(), bytes.size(), digest.data());
  std::string text;
  for (unsigned char byte : digest) {
    fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  }
  return text;
}

std::string sha256(std::string_view text) {
  return sha256(std::span(reinterpret_cast<const std::uint8_t *>(text.data()), text.size()));
}

} // namespace kw
