// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emulated device's global memory: named allocations at 64-bit emulated addresses, far apart,
// so that an address computed wrongly hits no other allocation. Backing pages are reserved lazily:
// an operand of gigabytes costs only what is touched.
#pragma once

#include "ir/support/Expected.h"
#include "runtime/emulator/ByteFlags.h"
#include "runtime/emulator/LazyPages.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

class GlobalMemory {
public:
  /// Each allocation owns one slot of this many bytes of address space (larger ones take several);
  /// what is left of the slot is its guard.
  static constexpr unsigned slotBits = 36;

  /// Strict mode, during a launch: who touched each dword last (GlobalOrder.h).
  struct Stamps {
    LazyPages writerPages, readerPages;
    std::uint32_t *writers = nullptr;
    std::uint32_t *readers = nullptr; ///< null: a declared input
    std::atomic<bool> written = false;
  };

  struct Allocation {
    std::string name;
    std::uint64_t base = 0;  ///< emulated address
    std::uint64_t bytes = 0; ///< usable; accesses at or past base + bytes are out of bounds
    std::uint8_t *host = nullptr;
    ByteFlags initialised; ///< none when everything counts as initialised
    bool readOnly = false;
    bool isInput = false; ///< the host expects no stores
    LazyPages data;
    std::unique_ptr<Stamps> stamps;
  };

  GlobalMemory();
  GlobalMemory(const GlobalMemory &) = delete;
  GlobalMemory &operator=(const GlobalMemory &) = delete;

  enum class Contents {
    initialised,   ///< the host fills it through `bytes`; reads are always fine (zero at first)
    uninitialised, ///< an output or workspace: bytes must be stored by a kernel (or by
                   ///< `markInitialised`) before a kernel reads them
  };

  /// Reserves `bytes` (zero allowed). Fails with failed() when address space or memory runs out.
  Expected<std::uint64_t> allocate(std::string name, std::uint64_t bytes,
                                   Contents contents = Contents::initialised,
                                   bool readOnly = false);
  /// The same over the host's own bytes, which must stay where they are until release().
  /// `isInput`: no kernel is expected to write it.
  Expected<std::uint64_t> map(std::string name, std::span<std::uint8_t> bytes,
                              Contents contents = Contents::initialised, bool isInput = false);
  /// Frees the allocation whose base is `address`.
  void release(std::uint64_t address);

  /// The host's view of the allocation whose base is `address`; empty span if there is none.
  std::span<std::uint8_t> bytes(std::uint64_t address) const;
  /// Counts [address, address + count) as initialised. Clamped to the allocation.
  void markInitialised(std::uint64_t address, std::uint64_t count);

  /// The allocation that contains [address, address + count), or null.
  const Allocation *find(std::uint64_t address, std::uint64_t count) const {
    const Allocation *allocation = owner(address);
    if (!allocation || count > allocation->bytes ||
        address - allocation->base > allocation->bytes - count) {
      return nullptr;
    }
    return allocation;
  }
  /// The allocation whose slot `address` is in, though perhaps past its end, or null.
  const Allocation *owner(std::uint64_t address) const {
    const std::uint64_t slot = address >> slotBits;
    return slot < slots.size() ? slots[slot] : nullptr;
  }
  /// Fresh stamps for all allocations that kernels may write; none any more.
  Expected<void> beginStamps();
  void endStamps();

  /// "17 bytes past the end of 'A'" or "in no allocation": for findings.
  std::string describe(std::uint64_t address, std::uint64_t count) const;

private:
  Expected<std::uint64_t> place(std::unique_ptr<Allocation> allocation, Contents contents);

  std::vector<Allocation *> slots; ///< index: address >> slotBits
  std::vector<std::unique_ptr<Allocation>> allocations;
};

} // namespace kw
