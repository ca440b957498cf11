// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector ALU of the busiest SIMD, transcendental instructions at their own rate.
#include "costmodel/terms/Terms.h"

namespace kw::terms {

double vectorAlu(const LaunchProfile &profile, const Rounds &rounds, const Target &target) {
  return microseconds(rounds.wavesOfSimd * profile.valuCycles, target);
}

} // namespace kw::terms
