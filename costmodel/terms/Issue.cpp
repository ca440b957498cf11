// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chain of dependences of one workgroup alone on its CU: in-order issue, latencies, barriers
// and the turns that its own waves take at the pipes (LoopGraph's recurrence). Resident workgroups
// run beside each other. A load that is not prefetched stands in the chain with an L2 hit's latency
// there; the rest of its round trip is added.
#include "costmodel/terms/Terms.h"

#include <algorithm>

namespace kw::terms {

double issue(const LaunchProfile &profile, const Rounds &rounds, const Target &target) {
  const double beyondL2 = std::max(0.0, coldRoundTripCycles(target) - target.l2LatencyCycles);
  const double chain = profile.chainCycles + profile.chainedLoads * beyondL2;
  return microseconds(rounds.walks * chain, target);
}

} // namespace kw::terms
