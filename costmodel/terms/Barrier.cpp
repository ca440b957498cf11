// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers: what waves lose by waiting for the slowest, beyond the dependences in the loop graph.
// Other resident workgroups fill the gap.
#include "costmodel/terms/Terms.h"

namespace kw::terms {

double barrier(const LaunchProfile &profile, const Rounds &rounds, const Target &target) {
  const double cycles = profile.barriers * target.barrierCycles;
  return microseconds(rounds.batches / rounds.residentCopies * cycles, target);
}

} // namespace kw::terms
