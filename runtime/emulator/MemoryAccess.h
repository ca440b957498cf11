// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checked access of a wave to global memory.
#pragma once

#include "runtime/emulator/GlobalMemory.h"
#include "runtime/emulator/Wave.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace kw::detail {

/// Host memory behind an emulated range; `host` is null if there is none (reported already).
struct GlobalSpan {
  std::uint8_t *host = nullptr;
  const GlobalMemory::Allocation *allocation = nullptr;

  /// Strict: for the check of races, before the data moves.
  void note(Wave &wave, const Op &op, int lane, unsigned count,
            const std::uint8_t *data = nullptr) const;

  bool isInitialised(std::size_t offset, std::size_t count) const {
    return !allocation->initialised || allocation->initialised.all(at() + offset, count);
  }
  void markInitialised(std::size_t offset, std::size_t count) const {
    if (allocation->initialised) {
      allocation->initialised.set(at() + offset, count);
    }
  }

private:
  std::uint64_t at() const { return static_cast<std::uint64_t>(host - allocation->host); }
};

/// Looks up [address, address + count), reporting what is out of bounds or read-only. `lane` -1:
/// the whole wave.
GlobalSpan globalSpan(Wave &wave, const Op &op, int lane, std::uint64_t address,
                      std::uint64_t count, bool write);

/// Full-wave copies, `words` dwords a lane, no lane masked off. `offset[l]`: bytes from `base`.
struct LaneCopies {
  void (*gather)(Register *to, const std::uint8_t *base, const std::uint32_t *offset, int words);
  void (*scatter)(const Register *from, std::uint8_t *base, const std::uint32_t *offset, int words);
};
const LaneCopies &laneCopies();

} // namespace kw::detail
