// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of an HSACO that Resources and Disassembly read. Bytes of unknown origin are fine:
// truncated, foreign and damaged files give an error that says what is wrong.
#pragma once

#include "ir/support/Expected.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llvm::object {
class ObjectFile;
}

namespace kw {

/// A kernel: `name` has a descriptor `name.kd` in the symbol table.
struct KernelSection {
  std::string name;
  std::uint64_t address = 0;          ///< of the first instruction
  std::span<const std::uint8_t> code; ///< machine code, without what follows s_endpgm's padding
  std::span<const std::uint8_t> descriptor; ///< the 64 bytes of amdhsa::kernel_descriptor_t
};

/// Views into the bytes given to `parseHsaco`, which must outlive it.
struct HsacoFile {
  std::string cpu;                    ///< "gfx950"
  std::string_view metadata;          ///< the MessagePack document of NT_AMDGPU_METADATA
  std::vector<KernelSection> kernels; ///< in symbol table order
};

Expected<HsacoFile> parseHsaco(std::span<const std::uint8_t> bytes);

} // namespace kw
