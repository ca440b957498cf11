// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a sweep of estimates tells: a row a point, where the roofline bends, where another term
// begins to limit.
#pragma once

#include "costmodel/Estimate.h"
#include "experiments/support/Json.h"
#include "experiments/sweep/SweepAxis.h"
#include "ir/Problem.h"
#include "ir/Target.h"

#include <string>
#include <vector>

namespace kw {

struct SweepPoint {
  std::int64_t value = 0; ///< of the swept key
  Json estimate;          ///< as `kw estimate` prints it; null where there is none
  std::string error;      ///< why there is none
  /// The roofline's two sides, microseconds: arithmetic at the matrix peak (0: no matrix
  /// arithmetic), compulsory bytes at the HBM peak.
  double computeRoofUs = 0, memoryRoofUs = 0;
};

/// The rooflines of a problem; the rest of the point stays as it is.
void setRoofs(SweepPoint &point, const Problem &problem, const Target &target);

/// `{sweep:{key, values}, points, ridge, limiters}`: `ridge` is null or {behind, at}, the values
/// between which arithmetic overtakes memory on the roofline; `limiters` lists {limiter, from, to}
/// in order, a new one where another term begins to limit.
Json sweepJson(const SweepAxis &axis, const std::vector<SweepPoint> &points);

/// The columns: KEY, time_us, source, lo_us, hi_us, limiter, tflops, gbps, the two roofs, a column
/// `NAME_us` a term, schedule, status (`ok` or the error). RFC 4180, as the rows.
std::string sweepCsvHeader(const SweepAxis &axis);
std::string sweepCsvRow(const SweepPoint &point);

/// What the points without an estimate have in common to say: how many of all, and the first one's
/// reason; empty: each has one.
std::string missingPoints(const SweepAxis &axis, const std::vector<SweepPoint> &points);

/// Readable: a line a point, then ridge and limiters. One point at least has an estimate.
std::string sweepText(const SweepAxis &axis, const std::vector<SweepPoint> &points);

} // namespace kw
