// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds are derived in runtime/README.md.
#include "runtime/Numbers.h"
#include "runtime/RandomValues.h"
#include "runtime/reference/RmsNorm.h"
#include "runtime/validation/Oracle.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kw {
namespace {

constexpr double f32Roundoff = 0x1p-24;
constexpr double exactSum = 0x1p24;

/// Mean and eps, halved by the root: 2; the reciprocal root by instructions that are right to one
/// unit in the last place: at most 6; times s, times weight: 2.
constexpr double rootAndProducts = 10;

/// Largest r so that the sum of squares of integers in [-r, r] (two of them with a residual) is
/// exact in f32; at most 4; 0: none.
std::int64_t integerRange(const RmsNorm &norm) {
  const double terms = norm.residual ? 2 : 1;
  return static_cast<std::int64_t>(
      std::min(4.0, std::sqrt(exactSum / static_cast<double>(norm.cols)) / terms));
}

class RmsNormOracle final : public Oracle {
public:
  RmsNormOracle(const RmsNorm &norm, const LaunchPlan &launch)
      : norm(norm), rowsPerWorkgroup(launch.tileM) {}

  std::vector<InputSet> inputSets(std::uint64_t seed) const override {
    return {{"random", seed, false}, {"integer", seed + 1, integerRange(norm) > 0}};
  }

  std::vector<OutputBlock> blocksOf(std::uint64_t workgroup) const override {
    OutputBlock block;
    block.workgroup = workgroup;
    block.row = static_cast<std::int64_t>(workgroup) * rowsPerWorkgroup;
    block.rows = std::clamp<std::int64_t>(norm.rows - block.row, 0, rowsPerWorkgroup);
    block.cols = norm.cols;
    std::vector<OutputBlock> blocks;
    for (const std::string_view tensor : {"sum", "y"}) {
      if (tensor == "y" || norm.residual) {
        block.tensor = tensor;
        blocks.push_back(block);
      }
    }
    return blocks;
  }

  void fill(const InputSet &set, std::span<const OutputBlock> blocks,
            const TensorContents &contents) const override {
    for (const OutputBlock &block : blocks) {
      for (std::int64_t row = block.row; row < block.row + block.rows && block.tensor == "y";
           ++row) {
        fillRow(set, 0, row, contents["x"]);
        if (norm.residual) {
          fillRow(set, 1, row, contents["residual"]);
        }
      }
    }
    if (norm.weight) {
      RandomSource source = sourceOf(set, 2);
      fillRandom(source, norm.type, contents.data("weight"), 0, norm.cols);
    }
  }

  Expectation expect(const InputSet &set, const OutputBlock &block,
                     const TensorContents &contents) const override {
    Expectation all;
    for (std::int64_t row = block.row; row < block.row + block.rows; ++row) {
      const std::vector<double> values =
          block.tensor == "sum"
              ? referenceSum(norm, contents.data("x"), contents.data("residual"), row)
              : normOf(contents, row);
      const double relative = block.tensor == "sum" ? f32Roundoff : relativeError(set.exact);
      for (const double value : values) {
        all.value.push_back(value);
        all.error.push_back(std::fabs(value) * relative);
      }
    }
    return all;
  }

  double tolerance() const override {
    const double error = relativeError(false);
    return error + unitRoundoff(norm.outType) * (1 + error);
  }

  double workPerWorkgroup() const override {
    constexpr double vectorAgainstMatrix = 50; // emulated cost of an element [measured: README.md]
    return vectorAgainstMatrix * static_cast<double>(rowsPerWorkgroup * norm.cols);
  }

  std::vector<std::vector<Problem>> neighbours() const override {
    std::vector<std::vector<Problem>> all;
    for (const std::int64_t rows : std::array{norm.rows - 1, norm.rows + 1, std::int64_t{1}}) {
      RmsNorm other = norm;
      other.rows = std::max<std::int64_t>(rows, 1);
      all.push_back({Problem{other}});
    }
    return all;
  }

private:
  RandomSource sourceOf(const InputSet &set, std::uint64_t operand) const {
    RandomSource source;
    source.seed = 3 * set.seed + operand;
    if (set.exact) {
      source.kind = RandomSource::Kind::integers;
      source.range = integerRange(norm);
    }
    return source;
  }

  /// Rows of the random set have magnitudes from 1 down to 2^-11, where eps matters.
  void fillRow(const InputSet &set, std::uint64_t operand, std::int64_t row,
               const TensorContents::Entry &to) const {
    RandomSource source = sourceOf(set, operand);
    if (!set.exact) {
      source.scale = std::ldexp(1.0, -static_cast<int>(row % 12));
    }
    fillRandom(source, norm.type, to.bytes.data(), row * norm.cols, norm.cols);
  }

  std::vector<double> normOf(const TensorContents &contents, std::int64_t row) const {
    return referenceNorm(norm, contents.data(norm.residual ? "sum" : "x"), contents.data("weight"),
                         row);
  }

  /// Half of the sum of squares' relative error (n roundings, all terms positive) and what follows.
  double relativeError(bool exact) const {
    const double summation = exact ? 0 : static_cast<double>(norm.cols) / 2;
    return (summation + rootAndProducts) * f32Roundoff;
  }

  RmsNorm norm;
  std::int64_t rowsPerWorkgroup;
};

} // namespace

Expected<std::unique_ptr<Oracle>> makeRmsNormOracle(const RmsNorm &norm, const LaunchPlan &launch) {
  if (Expected<void> covered = checkReferenceCovers(norm); !covered) {
    return tl::unexpected<Error>(covered.error());
  }
  return std::make_unique<RmsNormOracle>(norm, launch);
}

} // namespace kw
