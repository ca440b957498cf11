// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Infinity Cache: what the L2s miss, and all that is written.
#include "costmodel/terms/Terms.h"

namespace kw::terms {

double mall(const LaunchProfile &profile, const Rounds &rounds, const Target &target) {
  const double bytes = profile.mallReadBytes + profile.writtenBytes;
  return bytes / (target.mallBytesPerSecond * bandwidthRamp(rounds.activeCus)) * 1e6;
}

} // namespace kw::terms
