// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Start of waves: each shader engine starts one every few clocks. Reported under `launch`.
#include "costmodel/terms/Terms.h"

namespace kw::terms {

double dispatch(const LaunchProfile &profile, const Rounds &, const Target &target) {
  const double waves = static_cast<double>(profile.workgroups) * profile.waves;
  return microseconds(waves * target.waveLaunchCyclesPerSe / target.shaderEngines, target);
}

} // namespace kw::terms
