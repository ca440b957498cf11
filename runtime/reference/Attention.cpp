// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/reference/Attention.h"

#include "runtime/Numbers.h"
#include "runtime/reference/DotProducts.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace kw {
namespace {

/// Columns that are converted at a time.
constexpr std::int64_t chunkColumns = 256;

std::int64_t padded(std::int64_t length) {
  return (length + dotGranule - 1) / dotGranule * dotGranule;
}

/// `count` vectors of `length` elements, padded with zeros.
std::vector<double> decodeVectors(ElementType type, const std::uint8_t *data, std::int64_t first,
                                  std::int64_t stride, std::int64_t count, std::int64_t length) {
  const std::int64_t pitch = padded(length);
  std::vector<double> vectors(static_cast<std::size_t>(count * pitch), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    decodeNumbers(type, data, first + i * stride, length, vectors.data() + i * pitch);
  }
  return vectors;
}

/// Vectors of `length` into `length` vectors of `count`, padded with zeros.
std::vector<double> transposed(const std::vector<double> &vectors, std::int64_t count,
                               std::int64_t length) {
  const std::int64_t from = padded(length), to = padded(count);
  std::vector<double> result(static_cast<std::size_t>(length * to), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < length; ++j) {
      result[static_cast<std::size_t>(j * to + i)] =
          vectors[static_cast<std::size_t>(i * from + j)];
    }
  }
  return result;
}

class Computation {
public:
  Computation(const Attention &op, std::int64_t batch, std::span<const AttentionQuery> queries)
      : op(op), batch(batch), queries(queries), rows(static_cast<std::int64_t>(queries.size())),
        kvHead(queries.front().head / op.group()),
        scores(static_cast<std::size_t>(rows * op.skv), 0), products(scores.size(), 0) {
    for ([[maybe_unused]] const AttentionQuery &query : queries) {
      assert(query.head / op.group() == kvHead && "heads of one group");
    }
    result.rows.resize(static_cast<std::size_t>(rows));
  }

  void addScores(const std::uint8_t *q, const std::uint8_t *k);
  /// Scores become weights, relative to that of the maximum: sums of integers with equal weights
  /// stay exact.
  void weigh();
  void addOutput(const std::uint8_t *v);
  AttentionReference take() { return std::move(result); }

private:
  std::vector<double> decodeQueries(const std::uint8_t *q) const;
  void weighRow(AttentionRow &row, double *scoresOfRow, const double *productsOfRow) const;

  const Attention &op;
  std::int64_t batch;
  std::span<const AttentionQuery> queries;
  std::int64_t rows, kvHead;
  std::vector<double> scores, products; ///< rows x skv
  AttentionReference result;
};

std::vector<double> Computation::decodeQueries(const std::uint8_t *q) const {
  const AttentionStrides strides = attentionStrides(op.layout, op.hq, op.sq, op.d);
  std::vector<double> all;
  for (const AttentionQuery &query : queries) {
    const std::int64_t first =
        batch * strides.batch + query.head * strides.head + query.row * strides.sequence;
    const std::vector<double> own = decodeVectors(op.type, q, first, strides.sequence, 1, op.d);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

void Computation::addScores(const std::uint8_t *q, const std::uint8_t *k) {
  const AttentionStrides strides = attentionStrides(op.layout, op.hkv, op.skv, op.d);
  const std::vector<double> left = decodeQueries(q);
  std::vector<double> sums, magnitudes;
  for (std::int64_t column = 0; column < op.skv; column += chunkColumns) {
    const std::int64_t count = std::min(chunkColumns, op.skv - column);
    const std::int64_t first =
        batch * strides.batch + kvHead * strides.head + column * strides.sequence;
    const std::vector<double> right =
        decodeVectors(op.kvType, k, first, strides.sequence, count, op.d);
    sums.assign(static_cast<std::size_t>(rows * count), 0);
    magnitudes.assign(sums.size(), 0);
    addDotProducts(left.data(), rows, right.data(), count, padded(op.d), sums.data(),
                   magnitudes.data());
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t i = 0; i < count; ++i) {
        const auto from = static_cast<std::size_t>(row * count + i);
        const auto to = static_cast<std::size_t>(row * op.skv + column + i);
        scores[to] = op.scale * sums[from];
        products[to] = op.scale * magnitudes[from];
      }
    }
  }
}

void Computation::weighRow(AttentionRow &row, double *scoresOfRow,
                           const double *productsOfRow) const {
  double *const end = scoresOfRow + row.visible;
  std::fill(end, scoresOfRow + op.skv, 0.0);
  if (row.visible == 0) {
    row.lse = -std::numeric_limits<double>::infinity();
    return;
  }
  const double maximum = *std::max_element(scoresOfRow, end);
  row.largestProducts = *std::max_element(productsOfRow, productsOfRow + row.visible);
  double sum = 0, below = 0;
  for (double *score = scoresOfRow; score != end; ++score) {
    row.largestScore = std::max(row.largestScore, std::fabs(*score));
    below += *score == maximum ? 0 : std::exp(*score - maximum);
    *score = std::exp(*score - maximum);
    sum += *score;
  }
  row.lse = maximum + std::log(sum);
  row.belowMaximum = below / sum;
  row.inverseMaximum = 1 / sum;
}

void Computation::weigh() {
  for (std::int64_t row = 0; row < rows; ++row) {
    AttentionRow &known = result.rows[static_cast<std::size_t>(row)];
    known.visible = visibleColumns(op, queries[static_cast<std::size_t>(row)].row);
    weighRow(known, scores.data() + row * op.skv, products.data() + row * op.skv);
  }
}

void Computation::addOutput(const std::uint8_t *v) {
  const AttentionStrides strides = attentionStrides(op.layout, op.hkv, op.skv, op.dv);
  result.value.assign(static_cast<std::size_t>(rows * op.dv), 0);
  result.magnitude.assign(result.value.size(), 0);
  result.absolute.assign(static_cast<std::size_t>(op.dv), 0);
  for (std::int64_t column = 0; column < op.skv; column += chunkColumns) {
    const std::int64_t count = std::min(chunkColumns, op.skv - column);
    const std::int64_t first =
        batch * strides.batch + kvHead * strides.head + column * strides.sequence;
    const std::vector<double> right = transposed(
        decodeVectors(op.kvType, v, first, strides.sequence, count, op.dv), count, op.dv);
    const std::int64_t pitch = padded(count);
    std::vector<double> weights(static_cast<std::size_t>(rows * pitch), 0);
    for (std::int64_t row = 0; row < rows; ++row) {
      std::copy_n(scores.data() + row * op.skv + column, count, weights.data() + row * pitch);
    }
    addDotProducts(weights.data(), rows, right.data(), op.dv, pitch, result.value.data(),
                   result.magnitude.data());
    for (std::int64_t j = 0; j < op.dv; ++j) {
      double &sum = result.absolute[static_cast<std::size_t>(j)];
      for (const double *value = right.data() + j * pitch, *end = value + count; value != end;
           ++value) {
        sum += std::fabs(*value);
      }
    }
  }
  for (std::size_t i = 0; i < result.value.size(); ++i) {
    const AttentionRow &row = result.rows[i / static_cast<std::size_t>(op.dv)];
    result.value[i] *= row.inverseMaximum;
    result.magnitude[i] *= row.inverseMaximum;
  }
}

} // namespace

Expected<void> checkReferenceCovers(const Attention &attention) {
  const auto without = [](const char *what) {
    return failed(std::string("validation of attention does not cover ") + what + " yet");
  };
  if (attention.mask != MaskKind::none && attention.mask != MaskKind::causal) {
    return without("masks other than none and causal");
  }
  if (attention.score != ScoreKind::none) {
    return without("modified scores");
  }
  if (attention.latent()) {
    return without("v as a part of k");
  }
  if (!attention.varlenFile.empty() || attention.page != 0) {
    return without("ragged or paged k and v");
  }
  if (attention.sinks) {
    return without("sinks");
  }
  return {};
}

std::int64_t visibleColumns(const Attention &attention, std::int64_t row) {
  return attention.mask == MaskKind::causal
             ? std::clamp<std::int64_t>(attention.skv - attention.sq + row + 1, 0, attention.skv)
             : attention.skv;
}

AttentionReference referenceAttention(const Attention &attention, const std::uint8_t *q,
                                      const std::uint8_t *k, const std::uint8_t *v,
                                      std::int64_t batch, std::span<const AttentionQuery> queries) {
  Computation computation(attention, batch, queries);
  computation.addScores(q, k);
  computation.weigh();
  computation.addOutput(v);
  return computation.take();
}

} // namespace kw
