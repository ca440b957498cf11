// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a launch manifest as it stands: any code object, whoever made it. It proves nothing about
// the numbers; runtime/Validator.h does.
#pragma once

#include "ir/CodeObject.h"
#include "ir/support/Expected.h"
#include "runtime/Device.h"
#include "runtime/SavedFiles.h"
#include "runtime/Timings.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kw {

/// A manifest and the code object that it names, read and checked for form. Bad input: a file that
/// is missing or no manifest, a code object that is missing.
Expected<CodeObject> loadCodeObject(const std::filesystem::path &manifestFile);

struct LaunchOptions {
  bool strict = true;
  std::uint64_t seed = 0; ///< order of waves; contents are seeded by the manifest
  int jobs = 1;
  int schedules = 0; ///< runs under adversarial time (Timings.h) after the first
  SaveRequests save{};
  MatrixSums matrixSums{}; ///< of the emulated device; grouped is refused on others
};

struct SavedBuffer {
  std::string buffer;
  std::string file; ///< absolute
  std::int64_t bytes = 0;
};

struct LaunchOutcome {
  RunResult run;
  std::vector<SavedBuffer> outputs;

  bool ok() const { return run.findings.empty(); }
};

/// Fills the buffers as the manifest says, runs all launches, saves what is to be saved. Files are
/// relative to `folder`, the manifest's; nothing is written outside of it unless options.save says
/// so. Guards are checked
/// where the manifest names its problem, whose sizes they speak of.
Expected<LaunchOutcome> launch(const CodeObject &object, const std::filesystem::path &folder,
                               Device &device, const LaunchOptions &options);

/// Contents of the manifest's buffers before the first launch. failed() if together they are larger
/// than the machine's memory.
Expected<std::vector<HostBuffer>> fillBuffers(const Manifest &manifest,
                                              const std::filesystem::path &folder);
std::vector<BufferView> viewsOf(const Manifest &manifest, std::span<HostBuffer> contents);

/// One run of all launches over buffers filled as the manifest says, which are handed back.
Expected<TimedRun> runFromFresh(const CodeObject &object, const std::filesystem::path &folder,
                                Device &device, const RunOptions &how);

/// Bad input if the sizes of the manifest's problem break one of its guards.
Expected<void> checkGuards(const Manifest &manifest);

} // namespace kw
