// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What LoadedCode holds: the segments of the code object and its decoded kernels.
#pragma once

#include "runtime/emulator/Emulator.h"
#include "runtime/emulator/Op.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kw::detail {

/// 64 equal lanes a word, for operands that are constants.
struct Spread {
  alignas(64) std::uint32_t words[2][laneCount];
};

/// The fields of the 64-byte kernel descriptor that decide how a wave starts. [gfx950.md 4.4]
struct KernelDescriptor {
  std::uint32_t ldsBytes = 0, scratchBytes = 0, kernargBytes = 0;
  std::int64_t entryOffset = 0;
  std::uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  std::uint16_t properties = 0, kernargPreload = 0;

  int accumOffset() const { return static_cast<int>((rsrc3 & 63) + 1) * 4; }
  int allocatedVgprs() const { return static_cast<int>((rsrc1 & 63) + 1) * 8; }
  int userSgprs() const { return static_cast<int>(rsrc2 >> 1 & 31); }
  bool scratchEnabled() const { return rsrc2 & 1; }
  std::uint32_t floatMode() const { return rsrc1 >> 12 & 255; }
};

struct KernelCode {
  KernelFacts facts;
  KernelDescriptor descriptor;
  std::uint64_t entry = 0;            ///< virtual address in the code object
  std::uint64_t begin = 0;            ///< virtual address of the first decoded byte
  std::vector<Op> ops;                ///< plus one sentinel at the end
  std::vector<std::uint32_t> offsets; ///< byte offset of each from `begin`
  std::vector<std::string> text;      ///< disassembly, one a op
  std::vector<std::string> names;     ///< MC opcode names, one a op
  std::vector<std::int32_t> opAt;     ///< by (offset / 4): index of the op or -1
  std::uint32_t entryOp = 0;
  std::map<std::uint32_t, std::string> invalid; ///< by op: why the encoding means nothing
  std::deque<Spread> spreads;
  /// Atomics or scalar stores: workgroups may communicate, so their order matters.
  bool communicates = false;

  /// "    40: s_nop 0" for some ops before and after `index`, which is marked.
  std::string neighbourhood(std::uint32_t index) const;
};

struct Segment {
  std::uint64_t address = 0, memoryBytes = 0, fileOffset = 0;
  std::vector<std::uint8_t> bytes;
};

struct CodeImage {
  std::vector<Segment> segments;
  std::vector<KernelCode> kernels;
  const KernelCode *find(std::string_view name) const;
};

} // namespace kw::detail
