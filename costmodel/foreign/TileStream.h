// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launch beside the product's that split-K kernels without an order need: zeros in the result
// before (atomic) or the sum of the partial results after; and the sum over the experts of a token.
#pragma once

#include "costmodel/foreign/TilePlan.h"

namespace kw {

TileLaunch secondLaunch(const TileProblem &problem, const SetTileKernel &kernel,
                        const Target &target);

} // namespace kw
