// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LDS of the busiest CU: bank phases of reads and writes, as the loop graph counts them.
#include "costmodel/terms/Terms.h"

namespace kw::terms {

double lds(const LaunchProfile &profile, const Rounds &rounds, const Target &target) {
  return microseconds(rounds.workgroups * profile.waves * profile.ldsCycles, target);
}

} // namespace kw::terms
