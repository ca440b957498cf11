// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where in a code object which kind of data lies. Takes damaged files, too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kw::test {

enum class RegionKind { header, segments, sections, symbols, notes, descriptors, code };

struct Region {
  RegionKind kind;
  std::size_t offset = 0, bytes = 0; ///< inside the file
};

/// All that can be found, perhaps nothing.
std::vector<Region> regionsOf(std::span<const std::uint8_t> elf);

} // namespace kw::test
