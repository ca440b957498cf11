// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functional emulator of gfx950 machine code: executes the kernels of a code object, whoever
// compiled it, and in strict mode (the default) reports what hardware would not forgive. It says
// nothing about time. Read next: README.md, then Op.h, Wave.h and Workgroup.h.
//
//   auto code = LoadedCode::load(hsaco);
//   GlobalMemory memory;
//   auto a = memory.allocate("A", bytes);                      // fill memory.bytes(*a)
//   auto result = emulate(*code, "gemm", memory, {.grid = {64, 1, 1}, .block = {256, 1, 1},
//                                                 .kernarg = kernargBytes}, {});
#pragma once

#include "ir/support/Expected.h"
#include "runtime/emulator/Finding.h"
#include "runtime/emulator/GlobalMemory.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// One kernel argument as the metadata note tells it. `kind` is the note's word (global_buffer,
/// by_value, hidden_block_count_x, ...).
struct MetadataArgument {
  std::string name;
  std::string kind;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  bool hidden() const { return kind.starts_with("hidden_"); }
};

/// What descriptor and metadata say of a kernel. Byte counts as in the code object.
struct KernelFacts {
  std::string name;
  std::vector<MetadataArgument> arguments; ///< hidden ones included, by offset
  std::uint32_t kernargBytes = 0;
  std::uint32_t ldsBytes = 0;     ///< static
  std::uint32_t scratchBytes = 0; ///< per work-item
  std::uint32_t maxWorkgroupSize = 1024;
  std::optional<std::array<std::uint32_t, 3>> requiredWorkgroupSize;
  int vgpr = 0; ///< architectural, without AGPRs
  int agpr = 0;
  int sgpr = 0;
  int vgprSpills = 0;
  int sgprSpills = 0;
  bool addsFloatsAtomically = false; ///< to global memory: sums depend on the order of workgroups
  int allocatedVgprs = 0;            ///< unified total that the descriptor asks for (granule 8)
  std::uint32_t floatMode = 0;
};

/// One instruction of a kernel.
struct CodeInstruction {
  std::uint64_t pc = 0;         ///< byte offset from the kernel's entry
  std::uint64_t fileOffset = 0; ///< in the code object
  std::uint32_t bytes = 0;
  std::string text; ///< disassembled
};

namespace detail {
struct CodeImage;
}

/// A code object, decoded. Immutable and shared between threads.
class LoadedCode {
public:
  /// `elf`: an AMDGPU HSA shared object for gfx950. Anything malformed, foreign or truncated gives
  /// badInput with one line; no byte outside `elf` is read.
  static Expected<LoadedCode> load(std::span<const std::uint8_t> elf);

  std::vector<std::string> kernelNames() const;
  /// Null if the code object has no such kernel.
  const KernelFacts *kernel(std::string_view name) const;
  /// The disassembled kernel, one instruction a line with its byte offset ("    40: s_nop 0").
  std::string disassemble(std::string_view name) const;
  std::vector<CodeInstruction> instructions(std::string_view name) const;
  /// Instructions of the kernel that the emulator does not know, each once, as mnemonics. Empty:
  /// the kernel can run whatever path it takes.
  std::vector<std::string> unknownInstructions(std::string_view name) const;

  const detail::CodeImage &image() const { return *code; }

private:
  std::shared_ptr<const detail::CodeImage> code;
};

struct EmulatorLaunch {
  std::array<std::uint32_t, 3> grid{1, 1, 1};  ///< workgroups
  std::array<std::uint32_t, 3> block{1, 1, 1}; ///< work-items, product at most 1024
  std::uint32_t dynamicLds = 0;                ///< bytes behind the static LDS
  /// Explicit arguments at their offsets, or the whole segment. Hidden arguments are filled in by
  /// the emulator; what is missing up to the kernel's kernarg size is zero.
  std::vector<std::uint8_t> kernarg;
};

/// When data of memory instructions land (Landing.h).
enum class Landing { early, late, random };

/// How a matrix instruction adds. AMD publishes neither for gfx950. [gfx950.md 2.4]
enum class MatrixSums {
  inOrder, ///< f32 fused multiply-adds in k order
  /// CDNA3-like: groups of 8 products (16 of 8 bits and less) aligned to their largest exponent,
  /// cut below 24 fractional bits, added exactly, then rounded into the f32 sum. f32 and f64 in
  /// order.
  grouped,
};

struct EmulatorOptions {
  bool strict = true;     ///< with early landing only
  std::uint64_t seed = 0; ///< order in which waves take turns
  Landing landing = Landing::early;
  /// Turns of very different length, workgroups in any order: an order-dependent kernel shows.
  bool wildTurns = false;
  MatrixSums matrixSums = MatrixSums::inOrder;
  /// Strict: `lastWriter` tells who wrote the byte at this emulated address last; 0: none.
  std::uint64_t watch = 0;
  int jobs = 1; ///< threads; results do not depend on it
  /// A wave that executes more instructions than this is reported as a hang and ends the launch:
  /// workgroups that have not begun do not run.
  std::uint64_t instructionBudget = 200'000'000;
  /// Run only these workgroups (linear ids, x fastest); empty: the whole grid.
  std::vector<std::uint64_t> workgroups;
};

struct EmulatorResult {
  std::vector<EmulatorFinding> findings; ///< by workgroup, then pc; empty: clean
  std::uint64_t instructions = 0;        ///< executed, per wave
  std::uint64_t waves = 0;
  std::uint64_t workgroups = 0;
  std::string lastWriter; ///< of options.watch: instruction, workgroup, wave, lane; or empty
  double matrixFlops = 0; ///< 2 m n k per matrix instruction executed
  double seconds = 0;     ///< wall time of the emulation: says nothing about the GPU

  bool clean() const { return findings.empty(); }
};

/// Runs the launch to its end. Out-of-bounds loads give 0 and stores are dropped (and reported,
/// strict or not). badInput: no such kernel, more LDS than a CU has (163,840), a block that the
/// kernel does not take, too many registers. failed: an instruction that the emulator does not know
/// was reached (name, address and neighbourhood in the message).
Expected<EmulatorResult> emulate(const LoadedCode &code, std::string_view kernel,
                                 GlobalMemory &memory, const EmulatorLaunch &launch,
                                 const EmulatorOptions &options = {});

} // namespace kw
