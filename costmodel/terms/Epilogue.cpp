// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion and stores at the end of each workgroup. Narrow stores need more
// instructions for the same bytes. Written bytes meet no loads of their own
// workgroup to hide behind: they take the fabric for themselves, at the slower of L2 writes and
// Infinity Cache. [prior: their overlap with the loads of later rounds isn't known]
#include "costmodel/Constants.h"
#include "costmodel/terms/Terms.h"

#include <algorithm>

namespace kw::terms {

double epilogue(const LaunchProfile &profile, const Rounds &rounds, const Target &target) {
  const double stores = profile.storeInstructions * constants::storeInstructionCycles;
  // A persistent workgroup's stores retire while it loads its next tile.
  const double ends = profile.startsOnce ? 1 : exposures(rounds);
  const double waves =
      exposures(rounds) * (profile.epilogueCycles + stores) + ends * constants::storeRetireCycles;
  const double l2BytesPerSecond =
      constants::l2WriteFraction * target.l2BytesPerClockPerXcd * target.xcds * target.peakClockHz;
  const double fabric =
      profile.writtenBytes / std::min(l2BytesPerSecond, target.mallBytesPerSecond) * 1e6;
  return microseconds(waves, target) + fabric;
}

} // namespace kw::terms
