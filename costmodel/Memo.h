// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounded memo from a 64-bit key: open addressing, and forgotten as a whole when it is full, so
// that memory stays bounded however many keys are asked for. Values must not depend on what is in
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kw {

/// Finalizer of SplitMix64: spreads structured keys over the table.
constexpr std::uint64_t mixBits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Key of a sequence of values.
constexpr std::uint64_t mixInto(std::uint64_t key, std::uint64_t value) {
  return mixBits(key ^ (value + 0x9e3779b97f4a7c15ull + (key << 6)));
}

template <typename Value> class Memo {
public:
  /// Value of `key`, made by `make()` at the first time. The reference holds until the next call.
  template <typename Make> const Value &find(std::uint64_t key, Make &&make) {
    std::size_t at = slotOf(key);
    if (slots[at].used) {
      return slots[at].value;
    }
    Value value = make();
    if (2 * (count + 1) > slots.size()) {
      grow();
      at = slotOf(key);
    }
    slots[at] = {key, true, std::move(value)};
    ++count;
    return slots[at].value;
  }

  /// Value of `key` if it was made already; null: not (any more).
  const Value *known(std::uint64_t key) const {
    const Slot &slot = slots[slotOf(key)];
    return slot.used ? &slot.value : nullptr;
  }

  std::size_t size() const { return count; }
  static constexpr std::size_t maxEntries = std::size_t{1} << 17;

private:
  struct Slot {
    std::uint64_t key = 0;
    bool used = false;
    Value value{};
  };

  std::size_t slotOf(std::uint64_t key) const {
    const std::size_t mask = slots.size() - 1;
    std::size_t at = mixBits(key) & mask;
    while (slots[at].used && slots[at].key != key) {
      at = (at + 1) & mask;
    }
    return at;
  }

  void grow() {
    std::vector<Slot> old = std::exchange(slots, {});
    if (count >= maxEntries) {
      slots.resize(old.size());
      count = 0;
      return;
    }
    slots.resize(2 * old.size());
    for (Slot &slot : old) {
      if (slot.used) {
        slots[slotOf(slot.key)] = std::move(slot);
      }
    }
  }

  std::vector<Slot> slots = std::vector<Slot>(256);
  std::size_t count = 0;
};

} // namespace kw
