// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a wave's start to its first steady iteration: first instruction, first loads (in the loop
// graph an L2 hit; here cold). Persistent workgroups start once, but fill their pipeline anew for
// each tile.
#include "costmodel/Constants.h"
#include "costmodel/terms/Terms.h"

#include <algorithm>

namespace kw::terms {

double prologue(const LaunchProfile &profile, const Rounds &rounds, const Target &target) {
  const double beyondL2 = std::max(0.0, coldRoundTripCycles(target) - target.l2LatencyCycles);
  const double starts = profile.startsOnce ? 1 : exposures(rounds);
  const double cycles = profile.prologueCycles + profile.startLoads * beyondL2;
  return microseconds(starts * constants::waveStartCycles + exposures(rounds) * cycles, target);
}

} // namespace kw::terms
