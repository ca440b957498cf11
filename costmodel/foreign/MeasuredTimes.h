// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The times of a published table and what was found out about them, for judging and for fitting.
// Read apart from MeasuredRows.h; `kw score` reads it after the last prediction is made.
#pragma once

#include "costmodel/foreign/TextTable.h"

#include <optional>
#include <string>
#include <vector>

namespace kw {

struct MeasuredTime {
  std::optional<double> us;  ///< of all kernels of the row; nullopt: none given
  std::string flags;         ///< that forbid counting it, joined by '|'; empty: none
  std::optional<double> err; ///< share of result elements that were wrong, 0 to 1
  std::string split;         ///< "train", "val", ...; empty: not told
  std::string origin;        ///< who published it, and the day
  bool exhaustive = false;   ///< one of all candidates of its group, not a winner
  /// Bytes that the L2s asked of the fabric, as the counters say; nullopt: not counted.
  std::optional<double> readBytes;
};

/// One entry per data row.
std::vector<MeasuredTime> measuredTimes(const TextTable &table);

/// Largest share of wrong elements of a candidate that may be picked (costmodel.md 1.2).
inline constexpr double legalMismatch = 0.20;

} // namespace kw
