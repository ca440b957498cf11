// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels from assembly text, for tests. `Snippet` runs a few vector instructions over arrays of
// lanes: inputs arrive in v16, v17, ..., results are taken from v64, v65, ...
#pragma once

#include "runtime/emulator/Emulator.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kw::test {

struct KernelText {
  std::string body; ///< without s_endpgm
  int vgprs = 256;  ///< allocated, AGPRs included
  int accumOffset = 128;
  int ldsBytes = 0;
  int scratchBytes = 0;
  int kernargBytes = 64;
  int blockLimit = 1024;
  bool flushDenormals = false;
};

/// ELF bytes of a code object with the kernel "k". A mistake in the text fails the test.
std::vector<std::uint8_t> assemble(const KernelText &text);
LoadedCode load(const KernelText &text);

using Lanes = std::vector<std::uint32_t>; ///< a multiple of 64 values

struct Snippet {
  std::string body;
  std::vector<Lanes> inputs;
  int outputs = 1;
  int ldsBytes = 0;
  int scratchBytes = 0;
  bool flushDenormals = false;
  bool expectClean = true;
  std::vector<Lanes> run() const;
};

/// Runs one kernel with 64 work-items (or `launch`) whose first two arguments are the addresses of
/// an input of `in` bytes, initialised, and an output of `out` bytes, not initialised.
struct Trial {
  KernelText text;
  std::vector<std::uint8_t> in;
  std::size_t outBytes = 4096;
  EmulatorLaunch launch{.block = {64, 1, 1}};
  EmulatorOptions options;

  std::vector<std::uint8_t> out; ///< afterwards
  EmulatorResult result;
  std::string error;
  Trial &run();
  bool has(FindingKind kind) const;
  std::string findings() const;
};

/// s[4:5] input, s[6:7] output, v1 = 4 * lane.
extern const char *const prologue;

std::uint32_t bits(float x);
float asFloat(std::uint32_t x);
/// Random values with the special ones among them.
Lanes randomLanes(std::size_t count, std::uint32_t seed);
Lanes randomFloats(std::size_t count, std::uint32_t seed);

/// Checks `text` (of v16, v17, v18, result in v64) against `expected` lane by lane.
void expectLanes(
    const std::string &text, const std::vector<Lanes> &inputs,
    const std::function<std::uint32_t(std::uint32_t, std::uint32_t, std::uint32_t)> &expected);

} // namespace kw::test
