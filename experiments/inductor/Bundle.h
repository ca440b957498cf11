// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The export bundle: DIR/lookup_table.json (rows for Inductor's own templates, if there are any),
// DIR/table.csv (all candidates, as `kw tune` writes them), DIR/bundle.json (provenance,
// prediction), DIR/kernels/kernels.json with the HSACO files beside it, DIR/kernelwright/ (the
// Python loader). What is written was proven before; `checkBundle` proves it again from the files
// alone. Fields: README.md.
#pragma once

#include "experiments/inductor/LookupTable.h"
#include "ir/CodeObject.h"
#include "ir/Problem.h"
#include "ir/Schedule.h"
#include "ir/Target.h"
#include "ir/support/Expected.h"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

inline constexpr const char *tableFile = "table.csv"; ///< in the bundle's folder

/// One kernel to export, best candidate of its problem.
struct BundleEntry {
  Problem problem;
  Schedule schedule;
  CodeObject object;
  double timeUs = 0;
  std::string source; ///< label of timeUs: "model", "compiled", "measured", ...
  double lowUs = 0, highUs = 0;
  std::string limiter;
  std::optional<double> measuredUs;
  bool validated = false; ///< in strict mode; an entry that is not is refused
  double maxRel = 0;
  std::uint64_t seed = 0;         ///< of the validation
  ProblemCalibration calibration; ///< that the time rests on
};

/// Writes the bundle; files appear under their final names only when complete, and exporting the
/// same entries again gives identical bytes. Refuses entries that were not validated. Returns the
/// absolute path of `directory`. `table` is the text of table.csv; empty: there is none, and one
/// that lies there is no longer of the bundle.
Expected<std::filesystem::path> writeBundle(const std::filesystem::path &directory,
                                            const Target &target,
                                            std::span<const BundleEntry> entries,
                                            const LookupTable &lookup = {},
                                            std::string_view table = {});

struct CheckOptions {
  bool validate = true; ///< run every kernel on the emulator again
  int jobs = 1;
};

struct BundleCheck {
  int kernels = 0, rows = 0; ///< of kernels.json, of lookup_table.json
  std::string lie;           ///< the first one, as "FILE: what it says; what is true"; empty: none
  /// What lies in the folder and is not of the bundle, sorted; a folder ends in '/'.
  std::vector<std::string> unnamed;
};

/// An error is a folder that cannot be read as a bundle at all.
Expected<BundleCheck> checkBundle(const std::filesystem::path &directory,
                                  const CheckOptions &options);

} // namespace kw
