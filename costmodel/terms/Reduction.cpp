// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the last iteration to the sum of all splits of a tile, on the last workgroup to arrive: its
// partial sums are written back, it arrives, it reads those of all splits. Three or more round
// trips beyond the L2, which the region's loop graph chains [A: as an unloaded round trip to HBM
// each]; the bytes are in the written bytes of `epilogue` and in `mall`.
#include "costmodel/terms/Terms.h"

namespace kw::terms {

double reduction(const LaunchProfile &profile, const Rounds &rounds, const Target &target) {
  return microseconds(exposures(rounds) * profile.reductionCycles, target);
}

} // namespace kw::terms
