// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the model says of one schedule: a time, the terms that it is made of, an interval, and the
// term that limits. Source label: `model`.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace kw {

/// The parts that the time is made of, one file each in costmodel/terms/. Overlapped work counts
/// once, under the term that hides the others, so the entries add up to the time.
enum class Term : std::uint8_t {
  launch,
  prologue,
  matrix,
  lds,
  vectorAlu,
  issue,
  l2,
  mall,
  hbm,
  inFlight,
  barrier,
  lastRound,
  epilogue,
  reduction,
  residual,
};
inline constexpr std::size_t termCount = static_cast<std::size_t>(Term::residual) + 1;
std::string_view name(Term term);

struct Estimate {
  double timeUs = 0;
  std::array<double, termCount> termsUs{}; ///< adds up to timeUs
  double lowUs = 0, highUs = 0;            ///< 80% interval
  Term limiter = Term::launch;             ///< largest term
  double tflops = 0, gbps = 0;             ///< useful work per time
  int occupancy = 0, vgpr = 0, agpr = 0;
  std::int64_t ldsBytes = 0;
};

} // namespace kw
