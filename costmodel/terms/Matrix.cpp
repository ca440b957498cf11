// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix pipes: on the busiest SIMD the instructions of all its waves queue for one pipe, at peak
// clock.
#include "costmodel/terms/Terms.h"

namespace kw::terms {

double matrix(const LaunchProfile &profile, const Rounds &rounds, const Target &target) {
  return microseconds(rounds.wavesOfSimd * profile.matrixCycles, target);
}

} // namespace kw::terms
