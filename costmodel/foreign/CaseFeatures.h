// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills ModelCase::features from what a foreign kernel is and does.
#pragma once

#include "costmodel/Features.h"
#include "costmodel/foreign/AttentionTile.h"
#include "costmodel/foreign/TilePlan.h"

namespace kw {

/// One product of a row: its kernel as told and as it was set.
struct CasePart {
  TileProblem problem;
  SetTileKernel kernel;
  TileKernel told;
  double analyticUs = 0;
};

/// `second`: of fused rows the second product; nullptr: there is none.
std::vector<float> caseFeatures(const CasePart &first, const CasePart *second,
                                const Target &target);

std::vector<float> attentionFeatures(const AttentionWork &work, const Target &target);

} // namespace kw
