// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Proves a code object against the double-precision reference of its problem: fresh random inputs
// and small-integer inputs whose result is exact; poisoned outputs; all tiles of small problems,
// sampled tiles with every kind of edge and corner of large ones.
#pragma once

#include "ir/CodeObject.h"
#include "ir/Problem.h"
#include "ir/Schedule.h"
#include "ir/Target.h"
#include "runtime/Device.h"

namespace kw {

struct ValidateOptions {
  bool strict = true;
  bool full = false; ///< every output element
  std::uint64_t seed = 0;
  int jobs = 1;
  /// Runs of the problem under adversarial time (Timings.h), after the strict ones.
  int schedules = 0;
  MatrixSums matrixSums{}; ///< of the emulated device; grouped is refused on others
};

struct Validation {
  bool ok = false;
  double maxAbs = 0, maxRel = 0;
  /// Bound on |result - reference| / scale that follows from types and length of the sums.
  double tolerance = 0;
  std::int64_t checked = 0, total = 0; ///< output elements
  std::vector<Finding> findings;       ///< of the device; a mismatch is kind "mismatch"
  double seconds = 0, gflops = 0;
};

/// The object's manifest names problem and schedule; both must parse and fit the target.
Expected<Validation> validate(const CodeObject &object, const Target &target, Device &device,
                              const ValidateOptions &options);

/// Part of the keys in the store.
std::string_view validatorVersion();

} // namespace kw
