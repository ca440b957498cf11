// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds an output tensor against what must be in it: every element of the checked blocks is written
// and right, and not a byte elsewhere is touched.
#pragma once

#include "runtime/Device.h"
#include "runtime/validation/Oracle.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kw {

class Comparison {
public:
  /// The output was filled with HostBuffer::poison before the run. `circumstances` go into the
  /// findings: inputs and sizes.
  Comparison(const TensorContents::Entry &output, std::string circumstances);

  void check(const OutputBlock &block, const Expectation &expectation);
  /// After all blocks: what no block covers must still be poison.
  void checkUntouched();

  std::int64_t checked() const { return elements; }
  double maxAbs() const { return largestAbs; }
  double maxRel() const { return largestRel; }
  /// Of kind "mismatch"; the first ones, the last tells how many more there are.
  std::vector<Finding> findings() const;

private:
  void checkElement(const OutputBlock &block, std::int64_t row, std::int64_t col,
                    const Expectation &expectation);
  void complain(std::uint64_t workgroup, std::string detail);
  std::string element(const OutputBlock &block, std::int64_t row, std::int64_t col) const;

  const TensorContents::Entry &output;
  std::string circumstances;
  std::vector<std::pair<std::int64_t, std::int64_t>> covered; ///< [begin, end) in elements
  std::int64_t elements = 0;
  double largestAbs = 0, largestRel = 0;
  std::vector<Finding> found;
  std::int64_t mismatches = 0;
};

} // namespace kw
