// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Power. The clock falls with the duty of the matrix pipes, to which vector work adds its share:
// over a launch the mean rate of all pipes of the part can't exceed what it sustains (Target.h),
// however the work is spread. Low duty (memory bound, few CUs, stalls) leaves the clock alone.
// Assumes instructions at full rate for their type; old half-rate shapes draw less power, for them
// the limit is too strict. Reported under `matrix`.
#include "costmodel/Constants.h"
#include "costmodel/terms/Terms.h"

namespace kw::terms {

double sustainedClock(const LaunchProfile &profile, const Rounds &, const Target &target) {
  const double simds = static_cast<double>(target.cus) * target.simdsPerCu;
  const double waves = static_cast<double>(profile.workgroups) * profile.waves;
  const double cycles = profile.matrixCycles + constants::vectorPower * profile.valuCycles;
  const double duty = waves * cycles / simds;
  return microseconds(duty / profile.sustainedMatrixFraction, target);
}

} // namespace kw::terms
