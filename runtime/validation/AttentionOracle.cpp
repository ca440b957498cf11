// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds are derived in runtime/README.md.
#include "runtime/Numbers.h"
#include "runtime/RandomValues.h"
#include "runtime/reference/Attention.h"
#include "runtime/validation/AttentionInputs.h"
#include "runtime/validation/AttentionTiles.h"
#include "runtime/validation/Oracle.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <mutex>
#include <set>

namespace kw {
namespace {

constexpr double f32Roundoff = 0x1p-24;

/// Error of the exponent: scale and log2(e) in f32, their products with score and maximum, the
/// difference of the two; per unit of the largest score.
constexpr double exponentRoundings = 8;
/// Relative, per weight: its exponential, to one unit in the last place, and that of a rescaling.
constexpr double weightRoundings = 8;
/// Per step: exponential and product of a rescaling.
constexpr double rescaleRoundings = 3;
/// Fewest columns between two rescalings.
constexpr double fewestColumns = 16;
/// Reciprocal of the sum, the product with it, conversion.
constexpr double divisionRoundings = 16;

/// Relative error of the weights of a row.
double weightError(const Attention &op, const AttentionRow &row, bool exact) {
  const double scores = exponentRoundings * row.largestScore;
  const double sums = static_cast<double>(op.d + 2) * row.largestProducts;
  const double steps = std::ceil(static_cast<double>(row.visible) / fewestColumns);
  const double others = rescaleRoundings * steps + weightRoundings + sums;
  return f32Roundoff * (scores + (exact ? 0 : others));
}

/// Error of the sum of weights, and of each sum of weights and values, relative to its terms.
double sumError(const AttentionRow &row, bool exact) {
  return exact ? 0 : f32Roundoff * static_cast<double>(row.visible + 2);
}

double outputError(const Attention &op, const AttentionRow &row, double value, double magnitude,
                   double absolute, bool exact) {
  const double weights = weightError(op, row, exact);
  const double roundoff = unitRoundoff(op.kvType); // of the weights as an operand
  const double division = divisionRoundings * f32Roundoff * std::fabs(value);
  if (exact) {
    // Weights of the maximum are 1; of the others each sum takes a part, all or nothing.
    const double below = row.belowMaximum * (largestExactValue * (1 + roundoff) + std::fabs(value));
    return weights * (magnitude + std::fabs(value)) + division + below;
  }
  const double sums = sumError(row, exact);
  const double underflow =
      roundoff * smallestNormal(op.kvType) * absolute * row.inverseMaximum; // absolute, each weight
  return (weights + roundoff + sums) * magnitude + (weights + sums) * std::fabs(value) + division +
         underflow;
}

double lseError(const Attention &op, const AttentionRow &row, bool exact) {
  const double logarithm =
      f32Roundoff * (4 * (std::fabs(row.lse) + row.largestScore) + divisionRoundings);
  return weightError(op, row, exact) + sumError(row, exact) + (exact ? row.belowMaximum : 0) +
         logarithm;
}

class AttentionOracle final : public Oracle {
public:
  AttentionOracle(const Attention &op, const KernelPlan &plan)
      : op(op), tiles(op, plan), inputs(op) {}

  std::vector<InputSet> inputSets(std::uint64_t seed) const override {
    const bool exact = inputs.exactSums();
    return {{"random", seed, false}, {"selected", seed + 1, exact}, {"uniform", seed + 2, exact}};
  }

  std::vector<OutputBlock> blocksOf(std::uint64_t workgroup) const override {
    return tiles.blocksOf(workgroup);
  }

  std::vector<std::vector<std::uint64_t>>
  needed(const std::vector<std::uint64_t> &workgroups) const override {
    return tiles.needed(workgroups);
  }

  void fill(const InputSet &set, std::span<const OutputBlock> blocks,
            const TensorContents &contents) const override {
    std::set<std::pair<std::int64_t, std::int64_t>> keyHeads;
    for (const OutputBlock &block : blocks) {
      if (block.tensor != "o") {
        continue;
      }
      const AttentionBlock part = tiles.part(block);
      keyHeads.insert({part.batch, part.head / op.group()});
      inputs.fillQueries(set, part, contents.data("q"));
    }
    for (const auto &[batch, head] : keyHeads) {
      inputs.fillHead(set, batch, head, contents.data("k"), contents.data("v"));
    }
  }

  Expectation expect(const InputSet &set, const OutputBlock &block,
                     const TensorContents &contents) const override {
    const AttentionReference &reference = referenceOf(set, block, contents);
    const std::vector<AttentionQuery> queries = tiles.queriesOf(block.workgroup);
    const AttentionBlock part = tiles.part(block);
    Expectation all;
    for (std::int64_t head = part.head; head < part.head + part.heads; ++head) {
      for (std::int64_t row = part.row; row < part.row + part.rows; ++row) {
        const auto at = std::ranges::find(queries, AttentionQuery{head, row});
        assert(at != queries.end() && "a block's rows are those of its workgroup's tile");
        const auto index = static_cast<std::size_t>(at - queries.begin());
        if (block.tensor == "o") {
          addOutput(reference, index, set.exact, all);
        } else {
          addLse(reference.rows[index], set.exact, all);
        }
      }
    }
    return all;
  }

  double tolerance() const override {
    const double error = relativeError();
    return error + unitRoundoff(op.outType) * (1 + error);
  }

  /// Two products, and the exponentials between them, which cost the emulator more.
  double workPerWorkgroup() const override {
    constexpr double softmaxAgainstMatrix = 400; // emulated cost of a score [measured: README.md]
    return (2.0 * static_cast<double>(op.d + op.dv) + softmaxAgainstMatrix) *
           static_cast<double>(tiles.rowsPerTile()) *
           (static_cast<double>(op.skv) / static_cast<double>(tiles.splits()) +
            static_cast<double>(tiles.columnsPerStep()));
  }

  std::vector<std::vector<Problem>> neighbours() const override;

private:
  /// Bound on the error of the random set relative to `scale`.
  double relativeError() const {
    AttentionRow row;
    row.visible = op.skv;
    row.largestScore = row.largestProducts = inputs.largestRandomProducts();
    return 2 * weightError(op, row, false) + 2 * sumError(row, false) + unitRoundoff(op.kvType) +
           2 * divisionRoundings * f32Roundoff;
  }

  /// Of a whole tile, which is one pass over k and v for all heads of a group: its blocks, a head
  /// each, come one after the other.
  const AttentionReference &referenceOf(const InputSet &set, const OutputBlock &block,
                                        const TensorContents &contents) const {
    const std::lock_guard lock(knownMutex);
    if (knownSet != set.seed) {
      known.clear();
      knownSet = set.seed;
    }
    const auto [at, isNew] = known.try_emplace(tiles.tileNumber(block.workgroup));
    if (isNew) {
      at->second =
          referenceAttention(op, contents.data("q"), contents.data("k"), contents.data("v"),
                             tiles.part(block).batch, tiles.queriesOf(block.workgroup));
    }
    return at->second;
  }

  /// One row of o.
  void addOutput(const AttentionReference &reference, std::size_t index, bool exact,
                 Expectation &all) const {
    const AttentionRow &row = reference.rows[index];
    const auto dv = static_cast<std::size_t>(op.dv);
    for (std::size_t i = 0; i < dv; ++i) {
      const double value = reference.value[index * dv + i];
      const double magnitude = reference.magnitude[index * dv + i];
      const double error = outputError(op, row, value, magnitude, reference.absolute[i], exact);
      all.value.push_back(value);
      all.error.push_back(error);
      // A selected v may be 0: what is left then is the rest that the bound allows for.
      all.scale.push_back(std::max(magnitude, error / relativeError()));
    }
  }

  void addLse(const AttentionRow &row, bool exact, Expectation &all) const {
    all.value.push_back(row.lse);
    all.error.push_back(row.visible > 0 ? lseError(op, row, exact) : 0);
    all.scale.push_back(1 + std::fabs(row.lse));
  }

  Problem withSizes(std::int64_t b, std::int64_t sq, std::int64_t skv,
                    AttentionLayout layout) const {
    Attention other = op;
    other.b = b;
    other.sq = sq;
    other.skv = skv;
    other.layout = layout;
    other.lengths = {{sq, skv, b}};
    return {other};
  }

  Attention op;
  AttentionTiles tiles;
  AttentionInputs inputs;
  // By tile, of the set of inputs that was asked for last.
  mutable std::mutex knownMutex;
  mutable std::map<std::int64_t, AttentionReference> known;
  mutable std::uint64_t knownSet = 0;
};

/// Every size is an argument of the kernel: where the problem is long its edges are tried with few
/// steps that end alike.
std::vector<std::vector<Problem>> AttentionOracle::neighbours() const {
  using enum AttentionLayout;
  const AttentionLayout other = op.layout == bhsd ? bshd : bhsd;
  const std::int64_t step = tiles.columnsPerStep();
  const std::int64_t period = step * tiles.splits();
  const std::int64_t longest = 2 * period + step;
  const std::int64_t skv = op.skv <= longest ? op.skv : period + op.skv % period;
  const std::int64_t queries = op.sq == 1 ? 3 : 1;
  return {{withSizes(1, op.sq, std::max<std::int64_t>(skv - 1, 1), op.layout)},
          {withSizes(1, op.sq, skv + 1, other)},
          {withSizes(2, op.sq, 1, op.layout)},
          {withSizes(1, 16, std::max<std::int64_t>(std::min<std::int64_t>(step - 1, 9), 1), other),
           withSizes(1, op.sq + 1, 2, other)},
          {withSizes(op.b == 2 ? 3 : 2, queries, step + 1, op.layout)}};
}

} // namespace

Expected<std::unique_ptr<Oracle>> makeAttentionOracle(const Attention &attention,
                                                      const KernelPlan &plan) {
  if (Expected<void> covered = checkReferenceCovers(attention); !covered) {
    return tl::unexpected<Error>(covered.error());
  }
  return std::make_unique<AttentionOracle>(attention, plan);
}

} // namespace kw
