// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HBM: compulsory traffic (operands are cold) and what the Infinity Cache can't hold.
#include "costmodel/terms/Terms.h"

namespace kw::terms {

double hbm(const LaunchProfile &profile, const Rounds &rounds, const Target &target) {
  const double bytes = profile.hbmReadBytes + profile.writtenBytes;
  const double achievable = target.hbmBytesPerSecond * target.hbmAchievableFraction;
  return bytes / (achievable * bandwidthRamp(rounds.activeCus)) * 1e6;
}

} // namespace kw::terms
