// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A latency model in the manner of AMD's Origami, from its published formulas and gfx950 constants
// (costmodel.md 2.2, 2.3), in words of our own. Units are consistent here, where the original mixes
// core and memory clocks; tiles are walked in square groups. Tiles and splits that a name
// doesn't tell are those that our model takes (costmodel/foreign/TileChoices.h).
#pragma once

#include "experiments/score/ScoreRows.h"

#include <optional>

namespace kw {

/// Microseconds, launch included; nullopt: no GEMM, not gfx950, or no matrix instruction for its
/// types.
std::optional<double> origamiStyleUs(const ScoredRow &row);

} // namespace kw
