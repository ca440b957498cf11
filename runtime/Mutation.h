// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much strict mode finds: flaws of one instruction each, put into the code bytes of any kernel.
//
//   wait      an s_waitcnt becomes s_nop          loosened  one counter of it waits for one less
//   barrier   an s_barrier becomes s_nop          address   an access goes a few bytes further
//   nop       an s_nop shorter by one, or moved behind the instruction that it was for
//
// A mutant is harmful if a run under adversarial time (Timings.h) changes an output (where no such
// run of the original does), ends in an
// error or hangs; for `nop`, where the emulator has no wrong result to show, if the table of wait
// states says so. It is found if one strict run has a finding that the original has not, or wrong
// outputs. [issue: proof by mutation]
#pragma once

#include "ir/CodeObject.h"
#include "runtime/Timings.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

enum class MutationKind { wait, loosened, barrier, nop, address };
std::string_view name(MutationKind kind);
constexpr int mutationKinds = 5;

/// Bytes to write into a code object.
struct Patch {
  std::uint64_t offset = 0; ///< in the file
  std::vector<std::uint8_t> bytes;
};

struct Mutation {
  MutationKind kind = MutationKind::wait;
  std::string kernel;
  std::uint64_t pc = 0;
  std::string what; ///< "s_waitcnt vmcnt(3): vmcnt 4"
  Patch patch;
};

/// All of the kernels that the manifest launches, in code order. Bad input: no code object.
Expected<std::vector<Mutation>> mutationsOf(const CodeObject &object);

struct MutantOutcome {
  Mutation mutation;
  bool harmful = false;
  bool hasFinding = false;   ///< in the strict run
  bool wrongOutput = false;  ///< of the strict run
  std::string finding, harm; ///< one line each, or empty
  bool found() const { return hasFinding || wrongOutput; }
  bool escaped() const { return harmful && !found(); }
};

struct MutationReport {
  std::vector<Finding> original; ///< of the kernel as it is: none if it is right
  std::vector<MutantOutcome> mutants;
};

struct MutationOptions {
  int schedules = 6;
  std::uint64_t seed = 0;
  int jobs = 1;
  std::size_t limit = 0; ///< mutants, evenly spread over all; 0: all of them
  /// After each mutant, one call at a time, from any thread; empty: nobody asks.
  std::function<void(std::size_t done, std::size_t all)> progress = {};
};

/// `run` runs an object from fresh buffers; called from several threads.
Expected<MutationReport>
mutate(const CodeObject &object, const MutationOptions &options,
       const std::function<Expected<TimedRun>(const CodeObject &, const RunOptions &)> &run);

} // namespace kw
