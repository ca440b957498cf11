// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers: what waves lose by waiting for the slowest, beyond the dependences in the loop graph.
// Part of a workgroup's chain: other resident workgroups fill the gap, and where a loop waits for
// memory anyway nothing is lost.
#include "costmodel/terms/Terms.h"

namespace kw::terms {

double barrier(const LaunchProfile &profile, const Rounds &rounds, const Target &target) {
  return microseconds(rounds.walks * profile.barriers * target.barrierCycles, target);
}

} // namespace kw::terms
