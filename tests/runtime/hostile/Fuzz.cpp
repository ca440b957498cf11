// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kw_fuzz CORPUS...: libFuzzer, which keeps what reaches new code. Inputs are packed victims
// (Seeds.h); three of four changes are the Mutator's, the others libFuzzer's own.
#include "Attack.h"
#include "Seeds.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace kw::test;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t *data, std::size_t size, std::size_t maxSize);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t *data, std::size_t size,
                                               std::size_t maxSize, unsigned seed) {
  std::mt19937_64 random(seed);
  Victim victim = unpack({data, size});
  if (random() % 4 == 0 || victim.hsaco.empty()) {
    return LLVMFuzzerMutate(data, size, maxSize);
  }
  const Mutator mutator({victim});
  mutator.damage(victim, random);
  const auto bytes = pack(victim);
  if (bytes.size() > maxSize) {
    return LLVMFuzzerMutate(data, size, maxSize);
  }
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  struct Folder {
    std::filesystem::path outer =
        std::filesystem::temp_directory_path() / ("kw-fuzz-" + std::to_string(getpid()));
    std::filesystem::path inner = outer / "inner";
    Folder() { std::filesystem::create_directories(inner); }
    ~Folder() { std::filesystem::remove_all(outer); }
  };
  static const Folder folder;
  const Attacked result = attack(unpack({data, size}), size, folder.inner);
  if (!result.broken.empty()) {
    std::fprintf(stderr, "broken promise: %s\n", result.broken.c_str());
    std::abort();
  }
  return 0;
}
