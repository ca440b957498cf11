// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads in flight (Little's law): a CU holds so many bytes of outstanding loads, each for a round
// trip, so no schedule draws more than bytesInFlightPerCu / latency. And a workgroup that is
// `prefetch` iterations ahead waits one round trip every so many iterations.
#include "costmodel/terms/Terms.h"

#include <algorithm>

namespace kw::terms {

double inFlight(const LaunchProfile &profile, const Rounds &rounds, const Target &target) {
  const double roundTrip = coldRoundTripCycles(target);
  const double bytesPerCycle =
      std::min<double>(target.l1BytesPerClock, target.bytesInFlightPerCu / roundTrip);
  const double capacity = rounds.workgroups * profile.loadBytes / bytesPerCycle;
  const double latency = rounds.walks * profile.prefetchedTrips * roundTrip;
  return microseconds(std::max(capacity, latency), target);
}

} // namespace kw::terms
