// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user's own runs teach about a machine or a new shape: a Gaussian process over the errors
// that the calibration left, log(measured / predicted), with Student-t noise, so that one absurd
// run doesn't count. An error counts in units of the deviation that the calibration itself expects
// of the case, so that a run of what it knows little about moves more. What two cases have in
// common is a sum of shares of that:
//
//   all runs of a family of operators (the machine)
//   the same type, generator, kind of kernel, kernel; the latter the more, the nearer their sizes
//   tiles, splits and sizes that are alike: for any, for one generator's, for one kind's kernels
//
// of which another weight shape has a part. What all cases of a generator without published runs
// have in common (Correction::shared) comes on top. Exact (Cholesky).
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

/// A case and what was expected of it: log(measured / analytic) and its 80% interval.
struct ExpectedCase {
  const ModelCase &modelCase;
  Correction expected;
};

/// The process alone, for who has expectations of his own.
class ErrorProcess {
public:
  /// `measuredUs` has one entry a run.
  ErrorProcess(std::span<const ExpectedCase> runs, std::span<const double> measuredUs);
  ~ErrorProcess();
  ErrorProcess(ErrorProcess &&) noexcept;

  /// `expected` with what the runs teach of the case.
  Correction refine(const ExpectedCase &query) const;

private:
  struct State;
  std::unique_ptr<State> state; ///< none: no runs
};

/// A calibration with the user's runs on top. Keeps `base`, which has to outlive it, where nothing
/// has been run: far from all runs the correction is the base's own.
class Refinement final : public Calibration {
public:
  /// More than that would take seconds: of more, the last count.
  static constexpr std::size_t mostRuns = 256;

  Refinement(const Calibration &base, std::span<const OwnRun> runs);

  Target calibrated(const Target &target) const override { return base.calibrated(target); }
  Correction correct(const ModelCase &modelCase) const override {
    return process.refine({modelCase, base.correct(modelCase)});
  }

private:
  const Calibration &base;
  ErrorProcess process;
};

} // namespace kw
