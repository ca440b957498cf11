// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fits the physical constants (costmodel/calibration/PhysicalConstants.h) to measured rows.
#pragma once

#include "costmodel/calibration/PhysicalConstants.h"
#include "experiments/score/ScoreRows.h"

#include <span>

namespace kw {

/// Least mean Huber error of log(measured / analytic) plus (log(value / prior) / spread)^2 a
/// constant, by steps along one constant at a time. Each generator has a bias of its own, shrunk
/// towards none, so that constants aren't bent to excuse a slow library. Reads a sample of rows, an
/// equal number of each weight shape at most; deterministic.
FittedConstants fitConstants(std::span<const ScoredRow> rows, const Target &target);

} // namespace kw
