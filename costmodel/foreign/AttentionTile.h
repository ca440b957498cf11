// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Published attention kernels (prefill, forward and backward) as launches that the model reads.
// Their tables tell implementation and shape alone, so a workgroup's rows, columns and waves are
// unknown: averaged over what such kernels have.
#pragma once

#include "costmodel/foreign/TilePlan.h"

namespace kw {

struct AttentionTile {
  int rows = 128, columns = 64, waves = 4;
};

/// Plausible tiles of prefill kernels; the mean in log over them counts.
std::span<const AttentionTile> attentionTiles();

struct AttentionWork {
  AttentionRow shape;
  ElementType type = ElementType::bf16;
  bool backward = false;

  /// Pairs of a query row and a column of k that are not masked.
  double pairs() const;
  /// As published: 4 d per pair forward, 10 d backward.
  double flops() const;
};

ProblemFacts problemFacts(const AttentionWork &work);
TileLaunch attentionLaunch(const AttentionWork &work, const AttentionTile &tile,
                           const Target &target);

} // namespace kw
