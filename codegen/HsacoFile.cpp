// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/HsacoFile.h"

#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/AMDHSAKernelDescriptor.h>
#include <llvm/Support/MemoryBuffer.h>
#include <map>
#include <optional>

namespace kw {
namespace {

using ElfFile = llvm::object::ELFFile<llvm::object::ELF64LE>;
using ElfObject = llvm::object::ELFObjectFile<llvm::object::ELF64LE>;

tl::unexpected<Error> damaged(llvm::Error error) {
  return badInput("damaged code object: " + llvm::toString(std::move(error)));
}

struct SymbolRange {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

/// File contents of [address, address + size), which must lie inside one section that has some.
std::optional<std::span<const std::uint8_t>> contentsAt(const ElfFile &elf, SymbolRange range) {
  auto sections = elf.sections();
  if (!sections) {
    llvm::consumeError(sections.takeError());
    return std::nullopt;
  }
  for (const auto &section : *sections) {
    const std::uint64_t begin = section.sh_addr;
    if (section.sh_type != llvm::ELF::SHT_PROGBITS || !(section.sh_flags & llvm::ELF::SHF_ALLOC) ||
        range.address < begin || range.address - begin > section.sh_size ||
        range.size > section.sh_size - (range.address - begin)) {
      continue;
    }
    auto contents = elf.getSectionContents(section);
    if (!contents) {
      llvm::consumeError(contents.takeError());
      return std::nullopt;
    }
    return std::span(contents->data(), contents->size()).subspan(range.address - begin, range.size);
  }
  return std::nullopt;
}

Expected<std::map<std::string, SymbolRange>> readSymbols(const ElfObject &object) {
  std::map<std::string, SymbolRange> symbols;
  auto add = [&](auto range) -> llvm::Error {
    for (const llvm::object::ELFSymbolRef &symbol : range) {
      auto name = symbol.getName();
      if (!name) {
        return name.takeError();
      }
      auto address = symbol.getAddress();
      if (!address) {
        return address.takeError();
      }
      if (!name->empty()) {
        symbols[name->str()] = {*address, symbol.getSize()};
      }
    }
    return llvm::Error::success();
  };
  if (llvm::Error error = add(object.symbols())) {
    return damaged(std::move(error));
  }
  if (llvm::Error error = add(object.getDynamicSymbolIterators())) {
    return damaged(std::move(error));
  }
  return symbols;
}

Expected<std::string_view> readMetadata(const ElfFile &elf) {
  auto headers = elf.program_headers();
  if (!headers) {
    return damaged(headers.takeError());
  }
  for (const auto &header : *headers) {
    if (header.p_type != llvm::ELF::PT_NOTE) {
      continue;
    }
    llvm::Error error = llvm::Error::success();
    for (const auto &note : elf.notes(header, error)) {
      if (note.getType() == llvm::ELF::NT_AMDGPU_METADATA && note.getName() == "AMDGPU") {
        llvm::consumeError(std::move(error));
        const llvm::StringRef text = note.getDescAsStringRef(header.p_align);
        return std::string_view(text.data(), text.size());
      }
    }
    if (error) {
      return damaged(std::move(error));
    }
  }
  return badInput("no kernels in the code object: it has no AMDGPU metadata note");
}

Expected<void> addKernel(HsacoFile &file, const ElfFile &elf, const std::string &name,
                         SymbolRange descriptor, std::optional<SymbolRange> code) {
  descriptor.size = sizeof(llvm::amdhsa::kernel_descriptor_t);
  auto descriptorBytes = contentsAt(elf, descriptor);
  if (!code || !descriptorBytes) {
    return badInput("damaged code object: kernel " + name + " has no code or no descriptor");
  }
  auto codeBytes = contentsAt(elf, *code);
  if (!codeBytes) {
    return badInput("damaged code object: the code of kernel " + name + " lies outside the file");
  }
  file.kernels.push_back({name, code->address, *codeBytes, *descriptorBytes});
  return {};
}

Expected<void> addKernels(HsacoFile &file, const ElfObject &object) {
  Expected<std::map<std::string, SymbolRange>> symbols = readSymbols(object);
  if (!symbols) {
    return tl::unexpected(symbols.error());
  }
  for (const auto &[symbol, range] : *symbols) {
    llvm::StringRef name = symbol;
    if (!name.consume_back(".kd")) {
      continue;
    }
    auto code = symbols->find(name.str());
    Expected<void> added =
        addKernel(file, object.getELFFile(), name.str(), range,
                  code == symbols->end() ? std::nullopt : std::optional(code->second));
    if (!added) {
      return added;
    }
  }
  return {};
}

/// The GPU of an ELF header; empty: one that we don't know. LLVM's own look-up may only be asked
/// for numbers that it knows.
std::string_view gpuOf(unsigned flags) {
  switch (flags & llvm::ELF::EF_AMDGPU_MACH) {
  case llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX942:
    return "gfx942";
  case llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX950:
    return "gfx950";
  default:
    return {};
  }
}

} // namespace

Expected<HsacoFile> parseHsaco(std::span<const std::uint8_t> bytes) {
  const llvm::StringRef contents(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  if (!contents.starts_with(llvm::StringRef(llvm::ELF::ElfMagic, 4))) {
    return badInput("not a code object: the file does not begin with the ELF signature");
  }
  auto object =
      llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(contents, "code object"));
  if (!object) {
    return damaged(object.takeError());
  }
  const auto *elf64 = llvm::dyn_cast<ElfObject>(object->get());
  if (!elf64 || elf64->getELFFile().getHeader().e_machine != llvm::ELF::EM_AMDGPU) {
    return badInput("not a code object: an ELF file for another machine than AMDGPU");
  }
  HsacoFile file;
  const unsigned flags = elf64->getELFFile().getHeader().e_flags;
  file.cpu = gpuOf(flags);
  if (file.cpu.empty()) {
    return badInput(
        fmt::format("code object for another GPU (e_flags {:#x}); accepted: gfx950 gfx942", flags));
  }
  Expected<std::string_view> metadata = readMetadata(elf64->getELFFile());
  if (!metadata) {
    return tl::unexpected(metadata.error());
  }
  file.metadata = *metadata;
  if (Expected<void> added = addKernels(file, *elf64); !added) {
    return tl::unexpected(added.error());
  }
  return file;
}

} // namespace kw
