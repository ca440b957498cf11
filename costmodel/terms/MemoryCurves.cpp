// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/Constants.h"
#include "costmodel/terms/Terms.h"

#include <algorithm>

namespace kw {
namespace {

double reached(double cus) {
  return (constants::rampSquared * cus + constants::rampLinear) * cus + constants::rampConstant;
}

} // namespace

double coldRoundTripCycles(const Target &target) {
  return target.loadedRoundTripCycles + target.hbmLatencyCycles - target.l2LatencyCycles;
}

double bandwidthRamp(double activeCus) {
  return reached(std::min(activeCus, constants::rampFullCus)) / reached(constants::rampFullCus);
}

} // namespace kw
