// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "Mutator.h"

#include <filesystem>

namespace kw::test {

/// Every manifest (*.json) of a folder with its code object, sorted by name; of no folder: none.
std::vector<Victim> seedsOf(const std::filesystem::path &folder);

/// One byte string and back, for corpora: length of the manifest (4 bytes), manifest, code object.
std::vector<std::uint8_t> pack(const Victim &victim);
Victim unpack(std::span<const std::uint8_t> bytes);

} // namespace kw::test
