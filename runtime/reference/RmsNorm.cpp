// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/reference/RmsNorm.h"

#include "runtime/Numbers.h"

#include <cmath>

namespace kw {
namespace {

std::vector<double> decodeRow(const RmsNorm &norm, const std::uint8_t *data, std::int64_t row) {
  std::vector<double> values(static_cast<std::size_t>(norm.cols));
  decodeNumbers(norm.type, data, row * norm.cols, norm.cols, values.data());
  return values;
}

} // namespace

Expected<void> checkReferenceCovers(const RmsNorm &norm) {
  if (norm.quantised) {
    return failed("validation of rmsnorm does not cover quantised results yet");
  }
  return {};
}

std::vector<double> referenceSum(const RmsNorm &norm, const std::uint8_t *x,
                                 const std::uint8_t *residual, std::int64_t row) {
  std::vector<double> sum = decodeRow(norm, x, row);
  const std::vector<double> added = decodeRow(norm, residual, row);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] += added[i];
  }
  return sum;
}

std::vector<double> referenceNorm(const RmsNorm &norm, const std::uint8_t *s,
                                  const std::uint8_t *weight, std::int64_t row) {
  std::vector<double> values = decodeRow(norm, s, row);
  double squares = 0;
  for (const double value : values) {
    squares += value * value;
  }
  const double factor = 1 / std::sqrt(squares / static_cast<double>(norm.cols) + norm.eps);
  for (double &value : values) {
    value *= factor;
  }
  if (weight != nullptr) {
    const std::vector<double> weights = decodeRow(norm, weight, 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] *= weights[i];
    }
  }
  return values;
}

} // namespace kw
