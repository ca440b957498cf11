// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The analytic estimate of a published row's kernels, with what a fitted correction may look at.
// Sees no time: a MeasuredRow has none.
#pragma once

#include "costmodel/Combine.h"
#include "costmodel/Features.h"
#include "costmodel/TileReuse.h"
#include "costmodel/foreign/MeasuredRows.h"
#include "costmodel/foreign/TilePlan.h"
#include "costmodel/foreign/names/KernelNames.h"
#include "ir/Target.h"

#include <map>
#include <span>
#include <string>

namespace kw {

/// One per thread: memoises names and tile reuse.
class ForeignModel {
public:
  /// `without`: terms that are taken as 0. The targets are those of `calibration`, which has to
  /// outlive this; it corrects nothing here.
  explicit ForeignModel(TermSet without = {}, const Calibration &calibration = uncalibrated())
      : without(without), calibration(calibration) {}

  /// The error says why a row isn't modelled: unreadable, unknown type, target or operator.
  Expected<ModelCase> estimate(const MeasuredRow &row);

private:
  struct Part; // one product: its kernel, what was estimated
  /// Of products in the order of launch; `kernels` has one for each, or one for all.
  static ModelCase caseOf(std::span<const Part> parts, std::span<const ReadKernel> kernels,
                          const Target &target);
  Expected<ModelCase> estimateGemm(const MeasuredRow &row, const Target &target);
  Expected<ModelCase> estimateAttention(const MeasuredRow &row, const Target &target);
  Expected<ModelCase> estimateMoe(const MeasuredRow &row, const Target &target);
  /// Of one product after the other; `kernels` has one for each, or one for all.
  Expected<ModelCase> estimateParts(std::span<const TileProblem> problems,
                                    std::span<const ReadKernel> kernels, const Target &target);
  /// A sequence of launches.
  struct Run {
    Estimate estimate;
    double readBytes = 0; ///< ModelCase::readBytes
  };
  Part estimatePart(const TileProblem &problem, const ReadKernel &kernel, const Target &target);
  static Run averaged(std::span<const Run> runs);
  Run estimateKernel(const TileProblem &problem, const SetTileKernel &kernel,
                     const ProblemFacts &facts, const Target &target);
  void addLaunch(const TileLaunch &launch, const ProblemFacts &facts, const Target &target,
                 ReadsFrom from, Run &run);
  const ReadKernel &kernelOf(const KernelText &text);
  Expected<const Target *> targetOf(const MeasuredRow &row);

  TermSet without;
  const Calibration &calibration;
  TileReuse reuse;
  std::map<std::string, ReadKernel> kernels;
  std::map<std::pair<std::string, int>, Target> targets; ///< calibrated, by name and CUs
};

} // namespace kw
