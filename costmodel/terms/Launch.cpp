// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fixed cost of a launch on the device: the smallest kernel, start to end.
#include "costmodel/terms/Terms.h"

namespace kw::terms {

double launch(const LaunchProfile &, const Rounds &, const Target &target) {
  return target.launchSeconds * 1e6;
}

} // namespace kw::terms
