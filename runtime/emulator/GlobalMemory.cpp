// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/GlobalMemory.h"

#include <algorithm>
#include <cassert>
#include <fmt/core.h>
#include <utility>

namespace kw {

// Slot 0 stays empty, so that null and small addresses are unmapped.
GlobalMemory::GlobalMemory() : slots(1, nullptr) {}

Expected<std::uint64_t> GlobalMemory::allocate(std::string name, std::uint64_t bytes,
                                               Contents contents, bool readOnly) {
  auto data = LazyPages::reserve(bytes);
  if (!data) {
    return tl::unexpected<Error>(data.error());
  }
  auto allocation = std::make_unique<Allocation>();
  allocation->name = std::move(name);
  allocation->bytes = bytes;
  allocation->data = std::move(*data);
  allocation->host = allocation->data.data();
  allocation->readOnly = readOnly;
  return place(std::move(allocation), contents);
}

Expected<std::uint64_t> GlobalMemory::map(std::string name, std::span<std::uint8_t> bytes,
                                          Contents contents, bool isInput) {
  auto allocation = std::make_unique<Allocation>();
  allocation->name = std::move(name);
  allocation->bytes = bytes.size();
  allocation->host = bytes.data();
  allocation->isInput = isInput;
  return place(std::move(allocation), contents);
}

Expected<std::uint64_t> GlobalMemory::place(std::unique_ptr<Allocation> allocation,
                                            Contents contents) {
  constexpr std::uint64_t addressSpace = std::uint64_t{1} << (47 - slotBits);
  // At least 1 MiB of guard behind it.
  const std::uint64_t needed =
      std::min(addressSpace, ((allocation->bytes + (1u << 20)) >> slotBits) + 1);
  const auto isFree = [&](std::size_t begin) {
    for (std::size_t slot = begin; slot < begin + needed && slot < slots.size(); ++slot) {
      if (slots[slot]) {
        return false;
      }
    }
    return true;
  };
  std::size_t first = 1;
  while (!isFree(first)) {
    ++first;
  }
  if (first + needed > addressSpace) {
    return failed(fmt::format("no emulated address space left for '{}' of {} bytes",
                              allocation->name, allocation->bytes));
  }
  if (contents == Contents::uninitialised) {
    auto flags = ByteFlags::reserve(allocation->bytes);
    if (!flags) {
      return tl::unexpected<Error>(flags.error());
    }
    allocation->initialised = std::move(*flags);
  }
  allocation->base = static_cast<std::uint64_t>(first) << slotBits;
  if (slots.size() < first + needed) {
    slots.resize(first + needed, nullptr);
  }
  std::fill_n(slots.begin() + static_cast<std::ptrdiff_t>(first), needed, allocation.get());
  allocations.push_back(std::move(allocation));
  return allocations.back()->base;
}

void GlobalMemory::release(std::uint64_t address) {
  const auto found =
      std::find_if(allocations.begin(), allocations.end(),
                   [&](const auto &allocation) { return allocation->base == address; });
  assert(found != allocations.end() && "released what was not allocated");
  std::replace(slots.begin(), slots.end(), found->get(), static_cast<Allocation *>(nullptr));
  allocations.erase(found);
}

std::span<std::uint8_t> GlobalMemory::bytes(std::uint64_t address) const {
  const Allocation *allocation = owner(address);
  if (!allocation || allocation->base != address) {
    return {};
  }
  return {allocation->host, allocation->bytes};
}

void GlobalMemory::markInitialised(std::uint64_t address, std::uint64_t count) {
  const Allocation *allocation = owner(address);
  if (!allocation || !allocation->initialised || address - allocation->base >= allocation->bytes) {
    return;
  }
  const std::uint64_t offset = address - allocation->base;
  allocation->initialised.set(offset, std::min(count, allocation->bytes - offset));
}

Expected<void> GlobalMemory::beginStamps() {
  for (const auto &allocation : allocations) {
    if (allocation->readOnly) {
      continue;
    }
    auto stamps = std::make_unique<Stamps>();
    const std::size_t bytes = (allocation->bytes + 3) / 4 * sizeof(std::uint32_t);
    const auto reserve = [&](LazyPages &pages, std::uint32_t *&words) -> Expected<void> {
      auto reserved = LazyPages::reserve(bytes);
      if (!reserved) {
        return tl::unexpected<Error>(reserved.error());
      }
      pages = std::move(*reserved);
      words = reinterpret_cast<std::uint32_t *>(pages.data());
      return {};
    };
    if (auto done = reserve(stamps->writerPages, stamps->writers); !done) {
      return done;
    }
    if (!allocation->isInput) {
      if (auto done = reserve(stamps->readerPages, stamps->readers); !done) {
        return done;
      }
    }
    allocation->stamps = std::move(stamps);
  }
  return {};
}

void GlobalMemory::endStamps() {
  for (const auto &allocation : allocations) {
    allocation->stamps.reset();
  }
}

std::string GlobalMemory::describe(std::uint64_t address, std::uint64_t count) const {
  const Allocation *allocation = owner(address);
  if (!allocation) {
    return fmt::format("{} bytes at {:#x}: in no allocation", count, address);
  }
  const std::uint64_t offset = address - allocation->base;
  if (offset + count <= allocation->bytes) {
    return fmt::format("{} bytes at offset {} of '{}' ({} bytes)", count, offset, allocation->name,
                       allocation->bytes);
  }
  return fmt::format("{} bytes at offset {} of '{}', which has {} bytes", count, offset,
                     allocation->name, allocation->bytes);
}

} // namespace kw
