// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lookup_table.json: rows of Inductor's GEMM lookup table, and what bundle.json says of them. A row
// that Inductor would refuse, or with which it would compute wrong numbers, is never written: the
// text is proven with the same function that `kw check-bundle` runs over a bundle's file.
#pragma once

#include "costmodel/calibration/ProblemCalibration.h"
#include "experiments/support/Json.h"
#include "ir/Problem.h"
#include "ir/Schedule.h"
#include "ir/Target.h"

#include <span>
#include <string>
#include <string_view>

namespace kw {

/// One row to export.
struct LookupEntry {
  Problem problem;
  Schedule schedule; ///< of the generator triton
  double timeUs = 0;
  std::string source; ///< label of timeUs
  double lowUs = 0, highUs = 0;
  std::string limiter;
  ProblemCalibration calibration; ///< that the estimate rests on
};

enum class LookupKeys {
  device,   ///< with the name of the device: rows for nothing else
  agnostic, ///< without: the same rows wherever no row of the device is found
  both,
};

struct LookupOptions {
  LookupKeys keys = LookupKeys::device;
  bool atenFallback = false;   ///< a last row of ATen: Inductor benchmarks the rows against it
  std::string_view boundTorch; ///< version whose template hashes the rows carry; empty: none
};

/// "device", "agnostic" or "both"; the error says so.
Expected<LookupKeys> parseLookupKeys(std::string_view text);

struct LookupTable {
  std::string text;           ///< of lookup_table.json; empty: no rows
  Json notes = Json::array(); ///< `lookup` of bundle.json: problem, schedule, prediction per row
  std::string boundTorch;     ///< version whose template hashes the rows carry; empty: none
};

/// Rows of one problem come in the order of their entries. Fails on the first entry that cannot be
/// a row, with the reason.
Expected<LookupTable> makeLookupTable(std::span<const LookupEntry> entries, const Target &target,
                                      const LookupOptions &options);

/// What is wrong with a table as "lookup_table.json: ..." in one line; empty: nothing. `notes` is
/// `lookup` of bundle.json, `boundTorch` the version that the bundle is bound to. Estimates of
/// source `model` are made again when `sameModel`.
std::string lookupLie(const std::string &text, const Json &notes, const Target &target,
                      std::string_view boundTorch, bool sameModel);

} // namespace kw
