// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ElfRegions.h"

#include <cstring>
#include <elf.h>
#include <optional>

namespace kw::test {
namespace {

std::optional<RegionKind> kindOf(const Elf64_Shdr &section) {
  switch (section.sh_type) {
  case SHT_DYNSYM:
  case SHT_SYMTAB:
  case SHT_STRTAB:
  case SHT_HASH:
  case SHT_DYNAMIC:
    return RegionKind::symbols;
  case SHT_NOTE:
    return RegionKind::notes;
  case SHT_PROGBITS:
    return section.sh_flags & SHF_EXECINSTR ? RegionKind::code : RegionKind::descriptors;
  default:
    return std::nullopt;
  }
}

} // namespace

std::vector<Region> regionsOf(std::span<const std::uint8_t> elf) {
  std::vector<Region> regions;
  const auto add = [&](RegionKind kind, std::uint64_t offset, std::uint64_t bytes) {
    if (bytes > 0 && offset < elf.size() && bytes <= elf.size() - offset) {
      regions.push_back({kind, offset, bytes});
    }
  };
  Elf64_Ehdr header;
  if (elf.size() < sizeof(header)) {
    return regions;
  }
  std::memcpy(&header, elf.data(), sizeof(header));
  add(RegionKind::header, 0, sizeof(header));
  add(RegionKind::segments, header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
  add(RegionKind::sections, header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  if (regions.empty() || regions.back().kind != RegionKind::sections) {
    return regions;
  }
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, elf.data() + header.e_shoff + i * sizeof(section), sizeof(section));
    if (const auto kind = kindOf(section)) {
      add(*kind, section.sh_offset, section.sh_size);
    }
  }
  return regions;
}

} // namespace kw::test
