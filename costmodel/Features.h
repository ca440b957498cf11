// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a fitted correction may look at: one kernel run as the analytic model sees it. Nothing here
// is derived from a time. Foreign rows fill it in costmodel/foreign/, our own schedules through
// their plan.
#pragma once

#include "costmodel/Estimate.h"
#include "ir/Target.h"
#include "ir/ops/Gemm.h"

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// One kernel run (or, of a fused operator, all its kernels together).
struct ModelCase {
  Estimate analytic;    ///< without residual: termsUs[Term::residual] is 0
  double readBytes = 0; ///< that the L2s ask of Infinity Cache and HBM
  /// One value per name in featureNames(), in their order; NaN: unknown or not of this family.
  /// Sizes and counts as log2, fractions and flags from 0 to 1.
  std::vector<float> features;

  // Categories: names, not numbers. Empty: unknown.
  std::string family;    ///< of the operator: "gemm", "grouped_gemm", "attention"
  std::string dtype;     ///< "bf16", "fp8_row", "fp8_block128", "mxfp4", "i8_row", ...
  std::string generator; ///< "ck", "cktile", "flydsl", "asm", "hipblaslt", ..., "kw"
  std::string variant;   ///< which of the generator's kernel kinds: "blockscale_v1", "hgemm", ...
  std::string kernel;    ///< identity of the kernel: equal for all shapes that it ran
  /// Fold of a cross-validation: weight shape "NxK" (GEMM), layer size (MoE), shape (attention).
  std::string group;
  /// Of a fused operator whose kernels are known: each kernel's own case, in the order of launch.
  /// Their analytic times add up to this one's.
  std::vector<ModelCase> parts;
};

inline constexpr float unknownFeature = std::numeric_limits<float>::quiet_NaN();

/// Names of ModelCase::features.
std::span<const std::string_view> featureNames();
/// Where ModelCase::features has it; featureNames().size(): there is no such feature.
std::size_t featureIndex(std::string_view name);

/// ModelCase::dtype of a product: types and scale as one word.
std::string typeName(ElementType a, ElementType b, ScaleMode scale);

/// A fitted correction of log(time): time = analytic x exp(log), 80% interval
/// time x exp(+-halfWidth80).
struct Correction {
  double log = 0;
  double halfWidth80 = 0;
  /// The part of the deviation that all cases of this generator have in common, because none of its
  /// runs is known; standard deviation of the logarithm.
  double shared = 0;
};

/// Of a generator without a run.
Correction unseenGenerator(double log, double halfWidth80);

/// What `kw calibrate` fits and `--calibration` chooses. Implemented in costmodel/calibration/;
/// none: `uncalibrated()`.
class Calibration {
public:
  virtual ~Calibration() = default;
  /// The target with the physical constants that were fitted, for the analytic estimate.
  virtual Target calibrated(const Target &target) const { return target; }
  virtual Correction correct(const ModelCase &modelCase) const = 0;
  /// modelVersion() of the estimates that it was fitted to; empty: not fitted, or it doesn't say.
  virtual std::string_view fittedModel() const { return {}; }
};

/// No correction; the prior interval of Constants.h.
const Calibration &uncalibrated();

} // namespace kw
