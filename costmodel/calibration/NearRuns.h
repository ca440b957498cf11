// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What published runs of the very same kernel at near sizes teach beyond the trees: the posterior
// mean of a Gaussian process a kernel, over what the trees left unexplained there. Two runs are
// alike by exp(-distance), the distance being that of their sizes (log2), each divided by its
// length; so a kernel that was only timed far away, or never, keeps what the trees say.
#pragma once

#include "costmodel/Features.h"
#include "ir/support/Expected.h"

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kw {

class NearRuns {
public:
  struct Answer {
    double log = 0;      ///< to be added to the trees' log(measured / analytic)
    double likeness = 0; ///< of the nearest run, 0 (none) to 1 (these very sizes)
  };

  /// Keys: `of` (names of categories), `sizes` (names of features), `lengths` (octaves, one a
  /// size), `runs` (key of the categories -> of each run its sizes and its weight, one after the
  /// other). Bad input: an unknown category or feature, a length that isn't above 0, a list that
  /// isn't whole runs of finite numbers.
  static Expected<NearRuns> parse(const nlohmann::json &json);

  /// No allocation but for the key.
  Answer at(const ModelCase &modelCase) const;

private:
  std::vector<std::string> of;
  std::vector<std::size_t> sizes; ///< indices of features
  std::vector<float> inverseLengths;
  /// Of each run its sizes over their lengths and its weight.
  std::map<std::string, std::vector<float>, std::less<>> runs;
};

} // namespace kw
