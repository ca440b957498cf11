// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What strict mode reports of a kernel that hardware would not forgive.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kw {

enum class FindingKind {
  outOfBounds,       ///< global, LDS, scratch or kernarg access outside what the launch owns
  uninitialisedRead, ///< an address, a condition, EXEC or a stored value depends on undefined bits
  ldsRace,           ///< two waves, no barrier between their accesses, one of them a write
  globalRace,        ///< two waves, one dword of global memory, nothing orders them, one writes
  missingWait,       ///< a result used (or overwritten) before its s_waitcnt
  missingWaitStates, ///< too few instructions between producer and consumer (gfx950 hazards)
  misaligned,        ///< an address that is not a multiple of what the access needs
  barrierDivergence, ///< a wave ended while others wait at a barrier
  hang,              ///< instruction budget spent, or no wave can proceed
  partialExec,       ///< a matrix instruction with lanes switched off: undocumented
  trap,              ///< s_trap
};

std::string_view name(FindingKind kind);

/// One finding per (kind, pc) of a launch: the first in workgroup order, with the number of times.
struct EmulatorFinding {
  FindingKind kind = FindingKind::outOfBounds;
  std::string kernel;
  std::uint64_t pc = 0;    ///< byte offset from the kernel's entry
  std::string instruction; ///< disassembled
  std::array<std::uint32_t, 3> workgroup{};
  int wave = 0;
  int lane = -1;      ///< -1: the whole wave
  std::string detail; ///< one line; names the instruction at fault on the other side, if any
  std::uint64_t occurrences = 1;
};

} // namespace kw
