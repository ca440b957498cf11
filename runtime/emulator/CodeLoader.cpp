// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ELF to CodeImage. Every offset comes from an untrusted file: nothing is read without a check.
#include "runtime/emulator/CodeImage.h"
#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/Disassembler.h"
#include "runtime/emulator/Emulator.h"
#include "runtime/emulator/semantics/Semantics.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/ELF.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <variant>

namespace kw {

namespace detail {

namespace {

using Elf = llvm::object::ELF64LEFile;

/// No code object of ours is larger; what claims to be is broken.
constexpr std::uint64_t maxSegmentBytes = std::uint64_t{1} << 30;
/// Kernels may share code (each that jumps gets all of its segment), but headers that name the same
/// bytes over and over must not make work without end: this many times the file is decoded.
constexpr std::uint64_t maxDecodings = 64, smallFile = std::uint64_t{1} << 14;
/// Per work-item: what a wave's share of COMPUTE_TMPRING_SIZE can hold, 8191 KiB.
constexpr std::uint32_t maxScratch = 8191 * 1024 / laneCount, maxKernarg = 1u << 20;

template <class T> tl::unexpected<Error> broken(llvm::Expected<T> &result) {
  return badInput("broken code object: " + llvm::toString(result.takeError()));
}

using Json = nlohmann::json;

/// Stops at nesting that no metadata has: the reader is recursive.
class DepthLimit : public nlohmann::json_sax<Json> {
public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(std::size_t) override { return ++depth < 32; }
  bool key(string_t &) override { return true; }
  bool end_object() override { return --depth >= 0; }
  bool start_array(std::size_t) override { return ++depth < 32; }
  bool end_array() override { return --depth >= 0; }
  bool parse_error(std::size_t, const std::string &, const nlohmann::detail::exception &) override {
    return false;
  }

private:
  int depth = 0;
};

class Loader {
public:
  Expected<std::shared_ptr<const CodeImage>> load(std::span<const std::uint8_t> bytes) {
    decodable = maxDecodings * std::max<std::uint64_t>(bytes.size(), smallFile);
    auto elf =
        Elf::create(llvm::StringRef(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
    if (!elf) {
      return broken(elf);
    }
    const auto &header = elf->getHeader();
    if (header.e_machine != llvm::ELF::EM_AMDGPU) {
      return badInput("not an AMDGPU code object");
    }
    if ((header.e_flags & llvm::ELF::EF_AMDGPU_MACH) != llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX950) {
      return badInput(fmt::format("code object is not for gfx950 (e_flags {:#x})",
                                  static_cast<unsigned>(header.e_flags)));
    }
    for (const auto step : {&Loader::readSegments, &Loader::readSymbols, &Loader::readNotes}) {
      if (auto done = (this->*step)(*elf); !done) {
        return tl::unexpected<Error>(done.error());
      }
    }
    if (image->kernels.empty()) {
      return badInput("code object has no kernels");
    }
    auto disassembler = Disassembler::create();
    if (!disassembler) {
      return tl::unexpected<Error>(disassembler.error());
    }
    for (KernelCode &kernel : image->kernels) {
      if (auto done = decode(**disassembler, kernel); !done) {
        return tl::unexpected<Error>(done.error());
      }
    }
    return image;
  }

private:
  using Done = Expected<std::monostate>;

  Done readSegments(const Elf &elf) {
    auto headers = elf.program_headers();
    if (!headers) {
      return broken(headers);
    }
    std::uint64_t left = elf.getBufSize();
    for (const auto &header : *headers) {
      if (header.p_type != llvm::ELF::PT_LOAD) {
        continue;
      }
      auto contents = elf.getSegmentContents(header);
      if (!contents) {
        return broken(contents);
      }
      const bool isBroken = header.p_memsz > maxSegmentBytes || contents->size() > header.p_memsz ||
                            header.p_vaddr > maxSegmentBytes;
      if (isBroken) {
        return badInput("broken code object: a segment of impossible size");
      }
      if (contents->size() > left) {
        return badInput("broken code object: its segments overlap");
      }
      left -= contents->size();
      Segment segment;
      segment.address = header.p_vaddr;
      segment.memoryBytes = header.p_memsz;
      segment.fileOffset = header.p_offset;
      segment.bytes.assign(contents->begin(), contents->end());
      image->segments.push_back(std::move(segment));
    }
    return std::monostate();
  }

  Done readSymbols(const Elf &elf) {
    auto sections = elf.sections();
    if (!sections) {
      return broken(sections);
    }
    for (const auto &section : *sections) {
      if (section.sh_type != llvm::ELF::SHT_DYNSYM && section.sh_type != llvm::ELF::SHT_SYMTAB) {
        continue;
      }
      auto table = elf.symbols(&section);
      auto names = elf.getStringTableForSymtab(section);
      if (!table) {
        return broken(table);
      }
      if (!names) {
        return broken(names);
      }
      for (const auto &symbol : *table) {
        auto name = symbol.getName(*names);
        if (!name) {
          return broken(name);
        }
        symbols[name->str()] = {symbol.st_value, symbol.st_size};
      }
    }
    return std::monostate();
  }

  Done readNotes(const Elf &elf) {
    auto headers = elf.program_headers();
    if (!headers) {
      return broken(headers);
    }
    for (const auto &header : *headers) {
      if (header.p_type != llvm::ELF::PT_NOTE) {
        continue;
      }
      llvm::Error error = llvm::Error::success();
      Done result = std::monostate();
      for (const auto &note : elf.notes(header, error)) {
        if (note.getName() == "AMDGPU" && note.getType() == llvm::ELF::NT_AMDGPU_METADATA &&
            result) {
          const auto blob = note.getDesc(header.p_align == 8 ? 8 : 4);
          result = readMetadata({blob.data(), blob.size()});
        }
      }
      if (error) {
        return badInput("broken code object: " + llvm::toString(std::move(error)));
      }
      if (!result) {
        return result;
      }
    }
    return std::monostate();
  }

  // ---- Metadata
  // ----------------------------------------------------------------------------------

  static std::uint64_t number(const Json &map, const char *key, std::uint64_t otherwise = 0) {
    const auto found = map.find(key);
    const bool usable =
        found != map.end() && (found->is_number_unsigned() ||
                               (found->is_number_integer() && found->get<std::int64_t>() >= 0));
    return usable ? found->get<std::uint64_t>() : otherwise;
  }
  static std::string text(const Json &map, const char *key) {
    const auto found = map.find(key);
    return found != map.end() && found->is_string() ? found->get<std::string>() : "";
  }
  static const Json *array(const Json &map, const char *key) {
    const auto found = map.find(key);
    return found != map.end() && found->is_array() ? &*found : nullptr;
  }

  Done readMetadata(std::span<const std::uint8_t> blob) {
    DepthLimit limit;
    const bool flat =
        Json::sax_parse(blob.begin(), blob.end(), &limit, Json::input_format_t::msgpack);
    const Json root = flat ? Json::from_msgpack(blob.begin(), blob.end(), true, false) : Json();
    if (!root.is_object()) {
      return badInput("broken code object: the metadata note is not MessagePack");
    }
    const Json *kernels = array(root, "amdhsa.kernels");
    if (!kernels) {
      return badInput("broken code object: metadata has no amdhsa.kernels");
    }
    for (const Json &node : *kernels) {
      if (!node.is_object()) {
        return badInput("broken code object: amdhsa.kernels holds something else");
      }
      if (auto done = readKernel(node); !done) {
        return done;
      }
    }
    return std::monostate();
  }

  Done readKernel(const Json &map) {
    KernelCode kernel;
    KernelFacts &facts = kernel.facts;
    const std::string symbol = text(map, ".symbol");
    facts.name = symbol.ends_with(".kd") ? symbol.substr(0, symbol.size() - 3) : text(map, ".name");
    if (!known.insert(facts.name).second) {
      return std::monostate();
    }
    const auto as32 = [&](const char *key) {
      return static_cast<std::uint32_t>(std::min<std::uint64_t>(number(map, key), 1u << 30));
    };
    facts.kernargBytes = as32(".kernarg_segment_size");
    facts.ldsBytes = as32(".group_segment_fixed_size");
    facts.scratchBytes = as32(".private_segment_fixed_size");
    facts.maxWorkgroupSize =
        static_cast<std::uint32_t>(number(map, ".max_flat_workgroup_size", 1024));
    facts.agpr = static_cast<int>(as32(".agpr_count"));
    facts.sgpr = static_cast<int>(as32(".sgpr_count"));
    facts.vgprSpills = static_cast<int>(as32(".vgpr_spill_count"));
    facts.sgprSpills = static_cast<int>(as32(".sgpr_spill_count"));
    const int unified = static_cast<int>(as32(".vgpr_count"));
    if (const Json *required = array(map, ".reqd_workgroup_size");
        required && required->size() == 3) {
      std::array<std::uint32_t, 3> sizes{};
      for (std::size_t i = 0; i < 3; ++i) {
        const Json &size = (*required)[i];
        sizes[i] = size.is_number_unsigned() ? size.get<std::uint32_t>() : 0;
      }
      facts.requiredWorkgroupSize = sizes;
    }
    if (const Json *arguments = array(map, ".args")) {
      for (const Json &argument : *arguments) {
        if (argument.is_object()) {
          const auto small = [&](const char *key) {
            return static_cast<std::uint32_t>(
                std::min<std::uint64_t>(number(argument, key), 1u << 20));
          };
          facts.arguments.push_back({text(argument, ".name"), text(argument, ".value_kind"),
                                     small(".offset"), small(".size")});
        }
      }
    }
    if (auto done = readDescriptor(kernel); !done) {
      return done;
    }
    // .vgpr_count is the unified total, AGPRs from the accumulation offset on. [mlir22.md 11]
    facts.vgpr = facts.agpr > 0 ? std::min(unified, kernel.descriptor.accumOffset()) : unified;
    facts.allocatedVgprs = kernel.descriptor.allocatedVgprs();
    facts.floatMode = kernel.descriptor.floatMode();
    image->kernels.push_back(std::move(kernel));
    return std::monostate();
  }

  // ---- Descriptor and code
  // -----------------------------------------------------------------------

  /// Bytes of the image from virtual address `address` to the end of its segment.
  std::span<const std::uint8_t> bytesAt(std::uint64_t address) const {
    for (const Segment &segment : image->segments) {
      if (address >= segment.address && address - segment.address < segment.bytes.size()) {
        return std::span(segment.bytes).subspan(address - segment.address);
      }
    }
    return {};
  }

  Done readDescriptor(KernelCode &kernel) {
    const auto symbol = symbols.find(kernel.facts.name + ".kd");
    if (symbol == symbols.end()) {
      return badInput(fmt::format("broken code object: no descriptor {}.kd", kernel.facts.name));
    }
    const auto bytes = bytesAt(symbol->second.first);
    if (bytes.size() < 64) {
      return badInput(
          fmt::format("broken code object: descriptor {}.kd lies outside", kernel.facts.name));
    }
    const auto read = [&](std::size_t offset, auto &to) {
      std::memcpy(&to, bytes.data() + offset, sizeof(to));
    };
    KernelDescriptor &descriptor = kernel.descriptor;
    read(0, descriptor.ldsBytes);
    read(4, descriptor.scratchBytes);
    read(8, descriptor.kernargBytes);
    read(16, descriptor.entryOffset);
    read(44, descriptor.rsrc3);
    read(48, descriptor.rsrc1);
    read(52, descriptor.rsrc2);
    read(56, descriptor.properties);
    read(58, descriptor.kernargPreload);
    const std::uint32_t kernargBytes = std::max(descriptor.kernargBytes, kernel.facts.kernargBytes);
    if (descriptor.scratchBytes > maxScratch || kernargBytes > maxKernarg) {
      return badInput(fmt::format("kernel {} asks for {} bytes of scratch and {} of arguments",
                                  kernel.facts.name, descriptor.scratchBytes, kernargBytes));
    }
    kernel.entry = symbol->second.first + static_cast<std::uint64_t>(descriptor.entryOffset);
    return std::monostate();
  }

  /// From the function's symbol to its end; a kernel that computes jumps may go anywhere, so all of
  /// its segment is decoded.
  Done decode(const Disassembler &disassembler, KernelCode &kernel) {
    auto code = bytesAt(kernel.entry);
    if (code.size() < 4 || kernel.entry % 4 != 0) {
      return badInput(fmt::format("broken code object: kernel {} has no code", kernel.facts.name));
    }
    kernel.begin = kernel.entry;
    const auto symbol = symbols.find(kernel.facts.name);
    const bool sized = symbol != symbols.end() && symbol->second.first == kernel.entry &&
                       symbol->second.second >= 4;
    code = sized ? code.first(std::min<std::uint64_t>(code.size(), symbol->second.second)) : code;
    if (auto done = chargeDecoding(code.size()); !done) {
      return done;
    }
    decodeKernel(disassembler, code, kernel);
    const bool jumps = std::any_of(kernel.ops.begin(), kernel.ops.end(), [&](const Op &op) {
      return kernel.names[op.index].starts_with("S_SETPC") ||
             kernel.names[op.index].starts_with("S_SWAPPC");
    });
    return jumps ? decodeWholeSegment(disassembler, kernel) : std::monostate();
  }

  Done chargeDecoding(std::uint64_t bytes) {
    if (bytes > decodable) {
      return badInput("broken code object: too many kernels share the same code");
    }
    decodable -= bytes;
    return std::monostate();
  }

  Done decodeWholeSegment(const Disassembler &disassembler, KernelCode &kernel) {
    for (const Segment &segment : image->segments) {
      if (kernel.entry < segment.address ||
          kernel.entry - segment.address >= segment.bytes.size()) {
        continue;
      }
      KernelCode whole;
      whole.facts = kernel.facts;
      whole.descriptor = kernel.descriptor;
      whole.entry = kernel.entry;
      whole.begin = segment.address;
      if (auto done = chargeDecoding(segment.bytes.size()); !done) {
        return done;
      }
      decodeKernel(disassembler, segment.bytes, whole);
      const std::int32_t entryOp = whole.opAt[(kernel.entry - segment.address) / 4];
      if (entryOp >= 0) {
        whole.entryOp = static_cast<std::uint32_t>(entryOp);
        kernel = std::move(whole);
      }
      break;
    }
    return std::monostate();
  }

  std::shared_ptr<CodeImage> image = std::make_shared<CodeImage>();
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> symbols; ///< address, size
  std::set<std::string> known;                                            ///< names of kernels
  std::uint64_t decodable = 0; ///< bytes of code that may still be decoded
};

} // namespace

} // namespace detail

Expected<LoadedCode> LoadedCode::load(std::span<const std::uint8_t> elf) {
  if (elf.empty()) {
    return badInput("code object is empty");
  }
  // LLVM's reader wants aligned headers; a vector's memory is aligned for all of them.
  const std::vector<std::uint8_t> aligned(elf.begin(), elf.end());
  auto image = detail::Loader().load(aligned);
  if (!image) {
    return tl::unexpected<Error>(image.error());
  }
  LoadedCode result;
  result.code = std::move(*image);
  return result;
}

std::vector<std::string> LoadedCode::kernelNames() const {
  std::vector<std::string> names;
  for (const detail::KernelCode &kernel : code->kernels) {
    names.push_back(kernel.facts.name);
  }
  return names;
}

const KernelFacts *LoadedCode::kernel(std::string_view name) const {
  const detail::KernelCode *kernel = code->find(name);
  return kernel ? &kernel->facts : nullptr;
}

std::string LoadedCode::disassemble(std::string_view name) const {
  const detail::KernelCode *kernel = code->find(name);
  std::string result;
  for (std::size_t i = 0; kernel && i + 1 < kernel->ops.size(); ++i) {
    result += fmt::format("{:6x}: {}\n", kernel->offsets[i], kernel->text[i]);
  }
  return result;
}

std::vector<CodeInstruction> LoadedCode::instructions(std::string_view name) const {
  std::vector<CodeInstruction> result;
  const detail::KernelCode *kernel = code->find(name);
  for (std::size_t i = 0; kernel && i + 1 < kernel->ops.size(); ++i) {
    const std::uint64_t address = kernel->begin + kernel->offsets[i];
    for (const detail::Segment &segment : code->segments) {
      if (address >= segment.address && address - segment.address < segment.bytes.size()) {
        result.push_back({address - kernel->entry, segment.fileOffset + address - segment.address,
                          kernel->offsets[i + 1] - kernel->offsets[i], kernel->text[i]});
      }
    }
  }
  return result;
}

std::vector<std::string> LoadedCode::unknownInstructions(std::string_view name) const {
  std::set<std::string> unknown;
  const detail::KernelCode *kernel = code->find(name);
  for (std::size_t i = 0; kernel && i + 1 < kernel->ops.size(); ++i) {
    if (!kernel->ops[i].run) {
      unknown.insert(kernel->names[i]);
    }
  }
  return {unknown.begin(), unknown.end()};
}

} // namespace kw
