// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// At its end a launch makes its results visible to all XCDs: lines that are still dirty in the L2s
// are written back to memory, and nothing is left to hide that behind. Reported under `epilogue`.
#include "costmodel/Constants.h"
#include "costmodel/terms/Terms.h"

#include <algorithm>

namespace kw::terms {

double flush(const LaunchProfile &profile, const Rounds &, const Target &target) {
  const double dirty = std::min(profile.writtenBytes, constants::dirtyBytesAtEnd);
  return dirty / (target.hbmBytesPerSecond * target.hbmAchievableFraction) * 1e6;
}

} // namespace kw::terms
