// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// L2: every byte that L1 asks for, from the XCDs that work.
#include "costmodel/terms/Terms.h"

#include <algorithm>

namespace kw::terms {

double l2(const LaunchProfile &profile, const Rounds &, const Target &target) {
  const double xcds = std::min<double>(target.xcds, static_cast<double>(profile.workgroups));
  return microseconds(profile.l2ReadBytes / (xcds * target.l2BytesPerClockPerXcd), target);
}

} // namespace kw::terms
