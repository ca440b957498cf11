// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user's own runs teach about a machine or a new shape: a Gaussian process over the errors
// that the calibration left, log(measured / predicted), with Student-t noise, so that one absurd
// run doesn't count. The covariance of two cases is a sum of what they have in common:
//
//   machine        all runs of one family of operators
//   group          the same weight shape or layer, less so the further their rows are apart
//   generator      the same generator, and more for the same kind of kernel of it
//   group x generator, kernel
//
// Exact up to `mostRuns` runs (Cholesky); of more, the latest count.
#pragma once

#include "costmodel/Features.h"

#include <memory>
#include <span>
#include <vector>

namespace kw {

/// One run: the case, and the time that it took.
struct OwnRun {
  ModelCase modelCase;
  double measuredUs = 0;
};

/// A calibration with the user's runs on top. Keeps `base`, which has to outlive it, where nothing
/// has been run: far from all runs the correction is the base's own.
class Refinement final : public Calibration {
public:
  static constexpr std::size_t mostRuns = 512;

  Refinement(const Calibration &base, std::span<const OwnRun> runs);
  ~Refinement() override;

  Target calibrated(const Target &target) const override { return base.calibrated(target); }
  Correction correct(const ModelCase &modelCase) const override;

private:
  struct Process;
  const Calibration &base;
  std::unique_ptr<Process> process; ///< none: no runs
};

} // namespace kw
