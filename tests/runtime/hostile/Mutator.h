// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes hostile input out of good: a code object and its manifest, damaged where it may hurt. The
// damage knows what it hits (headers, symbols, metadata, descriptors, code, JSON), since bytes
// changed at random mostly end at the first check.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace kw::test {

struct Victim {
  std::vector<std::uint8_t> hsaco;
  std::string manifest; ///< JSON text
};

class Mutator {
public:
  /// `seeds`: good ones, at least one. Code of one may end up in another.
  explicit Mutator(std::vector<Victim> seeds) : seeds(std::move(seeds)) {}

  /// Mutant `number`: the same every time.
  Victim make(std::uint64_t number) const;
  /// Damages one place more.
  void damage(Victim &victim, std::mt19937_64 &random) const;

private:
  void damageCode(std::span<std::uint8_t> code, std::mt19937_64 &random) const;

  std::vector<Victim> seeds;
};

} // namespace kw::test
