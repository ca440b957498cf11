// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A random permutation of 0 ... size-1, drawn one after the other: Fisher-Yates, keeping only the
// places that were touched. The same on every platform for the same seed.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <unordered_map>

namespace kw {

/// Uniform below `bound` (above 0), without the freedom that std::uniform_int_distribution has.
inline std::uint64_t uniformBelow(std::mt19937_64 &random, std::uint64_t bound) {
  const std::uint64_t reject = (0 - bound) % bound; // 2^64 mod bound
  std::uint64_t value = random();
  while (value < reject) {
    value = random();
  }
  return value % bound;
}

class SparseShuffle {
public:
  SparseShuffle(std::uint64_t size, std::uint64_t seed) : size(size), random(seed) {}

  /// nullopt: all were drawn.
  std::optional<std::uint64_t> next() {
    if (drawn == size) {
      return std::nullopt;
    }
    const std::uint64_t place = drawn + uniformBelow(random, size - drawn);
    const std::uint64_t value = at(place);
    moved[place] = at(drawn);
    moved.erase(drawn++);
    return value;
  }

private:
  std::uint64_t at(std::uint64_t place) const {
    const auto found = moved.find(place);
    return found == moved.end() ? place : found->second;
  }

  std::uint64_t size;
  std::uint64_t drawn = 0;
  std::mt19937_64 random;
  std::unordered_map<std::uint64_t, std::uint64_t> moved;
};

} // namespace kw
