// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs of attention whose result tells right from wrong. Exponentials spoil integers, so the
// exact sets have scores that make every weight 0 or the same:
//
// - "uniform": q = 0. Every visible column weighs the same, v are integers: o is the mean of the
//   visible columns, lse the logarithm of their number.
// - "selected": columns of k are +-1 in random order, q is a multiple of one of them, so large that
//   all others weigh nothing: o is that column of v. It is the last visible one, the first, or any;
//   the first that a causal mask hides is given the same score.
//
// "random": normal; the scores of a row have standard deviation 1/2, 1, 2 or 4, so that means,
// peaks and maxima that differ from split to split all occur.
#pragma once

#include "runtime/reference/Attention.h"
#include "runtime/validation/Oracle.h"

#include <cstdint>
#include <vector>

namespace kw {

/// Largest |v| of the exact sets.
inline constexpr double largestExactValue = 64;

class AttentionInputs {
public:
  explicit AttentionInputs(const Attention &op) : op(op) {}

  /// Sums of the exact sets' v over all columns are exact in f32.
  bool exactSums() const;
  /// Bound on scale sum |q k| of the random set.
  double largestRandomProducts() const;

  void fillQueries(const InputSet &set, const AttentionBlock &block, std::uint8_t *q) const;
  /// All columns of one head of k and v.
  void fillHead(const InputSet &set, std::int64_t batch, std::int64_t head, std::uint8_t *k,
                std::uint8_t *v) const;

private:
  enum class Operand { q, k, v };
  std::vector<double> query(const InputSet &set, std::int64_t batch, std::int64_t head,
                            std::int64_t row) const;
  std::vector<double> selectedQuery(const InputSet &set, std::int64_t batch, std::int64_t head,
                                    std::int64_t row) const;
  /// A row of k or v; `keyHead` counts batch entries and heads together.
  std::vector<double> column(const InputSet &set, Operand operand, std::int64_t keyHead,
                             std::int64_t column) const;
  double selectingFactor() const;

  Attention op;
};

} // namespace kw
