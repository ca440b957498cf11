// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fitted correction of log(measured / analytic) of one operator family: shrunk effects of
// categories (whose kernel, which kind, which type), trees over the features and the shares of the
// terms, and what runs of the same kernel at near sizes say beyond them. It sees the problem, the
// kernel and the analytic estimate, and nothing that was measured.
//
// A generator without a single run gets what is known of its problem alone (operator and type), so
// that neither the ranking of its schedules nor the promise that better hardware is never slower
// depends on a fit that has never seen it; its interval is as wide as generators differ. Where no
// run has had nearly as few or as many rows (all attention runs are prefill, none is decode), it
// keeps the analytic time.
#pragma once

#include "costmodel/Features.h"
#include "costmodel/calibration/NearRuns.h"
#include "costmodel/calibration/Trees.h"
#include "ir/support/Expected.h"

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kw {

/// Mean deviation of the cases of one category, shrunk towards 0 by how few weight shapes there
/// are.
struct Effect {
  std::vector<std::string> of; ///< names of categories, e.g. {"generator", "variant"}
  std::map<std::string, float, std::less<>> values; ///< key: their values joined by '|'
};

/// What makes the coverage of intervals right, by bucket of rows, for each kind of case: one kernel
/// without or with a near run, and the kernels of a fused operator together.
struct WidthScales {
  std::vector<float> edges;               ///< log2 of rows: upper edges of all buckets but the last
  std::vector<float> single, near, fused; ///< one more than edges
  float nearFrom = 1;                     ///< NearRuns::Answer::likeness from which a run is near

  /// Keys: `log_rows`, `scale`; `near`, `scale_near`, `scale_fused`, or `scale` is for all.
  static Expected<WidthScales> parse(const nlohmann::json &json);
  double of(const ModelCase &modelCase, double likeness) const;
};

class Residual {
public:
  /// The object of one family in a calibration file (costmodel/README.md says what is in it).
  static Expected<Residual> parse(const nlohmann::json &json);

  /// Of a case with parts the logarithm of the sum of the parts' corrected times; its interval is
  /// that of the whole.
  Correction correct(const ModelCase &modelCase) const;
  /// Has any run of this generator been fitted?
  bool knows(std::string_view generator) const;

private:
  /// Where one input of the trees comes from.
  struct Input {
    enum class Kind { feature, share, logTime, nearestRun, effect } kind = Kind::feature;
    std::size_t index = 0;
  };
  static Expected<Input> inputNamed(const std::string &name, std::size_t effects);
  float value(const Input &input, const ModelCase &modelCase, const std::vector<float> &effects,
              float likeness) const;
  /// As one kernel.
  Correction correctWhole(const ModelCase &modelCase) const;
  Correction unseen(const ModelCase &modelCase) const;
  bool isFarFromRuns(const ModelCase &modelCase) const;

  std::vector<Input> inputs;
  std::vector<Effect> effects;
  Trees mean;    ///< of the logarithm
  NearRuns near; ///< added to the trees
  Trees width;   ///< half width of the 80% interval, before widthScales
  WidthScales widthScales;
  std::map<std::string, float, std::less<>> generators; ///< runs
  Correction unseenAny;
  std::map<std::string, Correction, std::less<>> unseenByType;
  std::vector<float> rowsSeen; ///< log2 of rows: least and most of all runs; empty: not known
  double newTypeHalfWidth = 0; ///< least half width of a type that isn't in unseenByType
};

} // namespace kw
