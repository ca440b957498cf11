// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/validation/Comparison.h"

#include "runtime/HostBuffer.h"
#include "runtime/Numbers.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace kw {
namespace {

constexpr std::size_t mostFindings = 8;

std::uint64_t poisonBits(ElementType type) { return ~std::uint64_t{0} >> (64 - bitWidth(type)); }

} // namespace

Comparison::Comparison(const TensorContents::Entry &output, std::string circumstances)
    : output(output), circumstances(std::move(circumstances)) {}

void Comparison::check(const OutputBlock &block, const Expectation &expectation) {
  for (std::int64_t row = 0; row < block.rows; ++row) {
    const std::int64_t begin = output.element(block.batch, block.row + row, block.col);
    covered.emplace_back(begin, begin + block.cols);
    for (std::int64_t col = 0; col < block.cols; ++col) {
      checkElement(block, row, col, expectation);
    }
  }
  elements += block.rows * block.cols;
}

void Comparison::checkElement(const OutputBlock &block, std::int64_t row, std::int64_t col,
                              const Expectation &expectation) {
  const ElementType type = output.tensor.type;
  const std::uint64_t bits = loadBits(
      type, output.bytes.data(), output.element(block.batch, block.row + row, block.col + col));
  const double result = decodeNumber(type, bits);
  const auto at = static_cast<std::size_t>(row * block.cols + col);
  const double value = expectation.value[at];
  const double error = expectation.error.empty() ? 0 : expectation.error[at];
  // Rounding is monotonic, so the roundings of value +- error enclose every right result.
  const double lowest = roundTo(type, value - error);
  const double highest = roundTo(type, value + error);
  const bool right = result >= lowest && result <= highest;
  // An exact result: its rounding is no deviation to report. Nor is a rightful overflow.
  if (right && ((expectation.scale.empty() && expectation.error.empty()) || std::isinf(result))) {
    return;
  }
  // The rounding of a subnormal result is absolute: half a step is unitRoundoff * smallestNormal.
  const double scale = std::max(
      expectation.scale.empty() ? std::fabs(value) : expectation.scale[at], smallestNormal(type));
  const double distance = result == value ? 0 : std::fabs(result - value);
  const double known = std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
  largestAbs = std::max(largestAbs, known);
  largestRel = std::max(largestRel, known == 0 ? 0 : known / scale);
  if (right) {
    return;
  }
  if (bits == poisonBits(type)) {
    complain(block.workgroup, fmt::format("{} was not written", element(block, row, col)));
    return;
  }
  const std::string expected =
      lowest == highest ? fmt::format("{}", lowest) : fmt::format("{} to {}", lowest, highest);
  complain(block.workgroup,
           fmt::format("{} is {}, expected {}", element(block, row, col), result, expected));
}

void Comparison::checkUntouched() {
  std::sort(covered.begin(), covered.end());
  const std::int64_t bytesPerElement = bitWidth(output.tensor.type) / 8;
  const auto total = static_cast<std::int64_t>(output.bytes.size());
  std::int64_t begin = 0; // of the gap, in bytes
  const auto checkGap = [&](std::int64_t end) {
    if (end <= begin) {
      return;
    }
    const auto gap = output.bytes.subspan(static_cast<std::size_t>(begin),
                                          static_cast<std::size_t>(end - begin));
    const std::size_t other = firstOtherByte(gap, HostBuffer::poison);
    if (other < gap.size()) {
      complain(0, fmt::format("{}: byte {} was written, outside of the results", output.tensor.name,
                              begin + static_cast<std::int64_t>(other)));
    }
  };
  for (const auto &[first, last] : covered) {
    checkGap(first * bytesPerElement);
    begin = std::max(begin, last * bytesPerElement);
  }
  checkGap(total);
}

std::string Comparison::element(const OutputBlock &block, std::int64_t row,
                                std::int64_t col) const {
  const std::string batch =
      output.tensor.shape.size() > 2 ? fmt::format("{}, ", block.batch) : std::string();
  return fmt::format("{}[{}{}, {}]", output.tensor.name, batch, block.row + row, block.col + col);
}

void Comparison::complain(std::uint64_t workgroup, std::string detail) {
  ++mismatches;
  if (found.size() >= mostFindings) {
    return;
  }
  Finding finding;
  finding.kind = "mismatch";
  finding.workgroup = {static_cast<std::uint32_t>(workgroup), 0, 0};
  finding.detail = fmt::format("{} ({})", detail, circumstances);
  found.push_back(std::move(finding));
}

std::vector<Finding> Comparison::findings() const {
  std::vector<Finding> all = found;
  const std::int64_t more = mismatches - static_cast<std::int64_t>(all.size());
  if (more > 0) {
    all.back().detail += fmt::format("; and {} more", more);
  }
  return all;
}

} // namespace kw
