// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Power. The clock falls with the duty of the matrix pipes: over a launch the mean rate of all
// pipes of the part can't exceed what it sustains (Constants.h), however the work is spread. Low
// duty (memory bound, few CUs, stalls) leaves the clock alone. Assumes instructions at full rate
// for their type; old half-rate shapes draw less power, for them the limit is too strict. Reported
// under `matrix`.
#include "costmodel/terms/Terms.h"

namespace kw::terms {

double sustainedClock(const LaunchProfile &profile, const Rounds &, const Target &target) {
  const double simds = static_cast<double>(target.cus) * target.simdsPerCu;
  const double waves = static_cast<double>(profile.workgroups) * profile.waves;
  const double duty = waves * profile.matrixCycles / simds;
  return microseconds(duty / profile.sustainedMatrixFraction, target);
}

} // namespace kw::terms
