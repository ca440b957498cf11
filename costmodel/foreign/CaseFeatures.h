// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills ModelCase::features from what a foreign kernel is and does.
#pragma once

#include "costmodel/Features.h"
#include "costmodel/foreign/TilePlan.h"

namespace kw {

/// Of a row's first product; `told` says what was known before TileChoices.
std::vector<float> tileFeatures(const TileProblem &problem, const SetTileKernel &kernel,
                                const TileKernel &told, const Target &target);

} // namespace kw
