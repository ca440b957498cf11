// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/reference/Attention.h"

#include "ir/Problem.h"
#include "runtime/Numbers.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

namespace kw {
namespace {

struct Case {
  explicit Case(const std::string &text) : op(parseProblem("attention " + text)->attention()) {
    q = random(op.b * op.hq * op.sq * op.d, 1);
    k = random(op.b * op.hkv * op.skv * op.d, 2);
    v = random(op.b * op.hkv * op.skv * op.dv, 3);
  }
  std::vector<std::uint8_t> random(std::int64_t elements, unsigned seed) const {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    std::vector<double> values(static_cast<std::size_t>(elements));
    for (double &value : values) {
      value = normal(generator);
    }
    std::vector<std::uint8_t> bytes(values.size() * 2);
    encodeNumbers(op.type, values.data(), bytes.data(), 0, elements);
    return bytes;
  }
  double at(const std::vector<std::uint8_t> &tensor, std::int64_t heads, std::int64_t sequence,
            std::int64_t width, std::int64_t batch, std::int64_t head, std::int64_t row,
            std::int64_t col) const {
    const AttentionStrides strides = attentionStrides(op.layout, heads, sequence, width);
    return decodeNumber(op.type, loadBits(op.type, tensor.data(),
                                          batch * strides.batch + head * strides.head +
                                              row * strides.sequence + col));
  }
  AttentionReference reference(const AttentionBlock &block) const {
    std::vector<AttentionQuery> queries;
    for (std::int64_t head = block.head; head < block.head + block.heads; ++head) {
      for (std::int64_t row = block.row; row < block.row + block.rows; ++row) {
        queries.push_back({head, row});
      }
    }
    return referenceAttention(op, q.data(), k.data(), v.data(), block.batch, queries);
  }

  Attention op;
  std::vector<std::uint8_t> q, k, v;
};

/// From the definition, an element at a time.
void expectDefinition(const Case &c, const AttentionBlock &block) {
  const AttentionReference reference = c.reference(block);
  const Attention &op = c.op;
  std::size_t at = 0;
  for (std::int64_t head = block.head; head < block.head + block.heads; ++head) {
    for (std::int64_t row = block.row; row < block.row + block.rows; ++row, ++at) {
      const std::int64_t keyHead = head / (op.hq / op.hkv);
      std::vector<double> weights;
      double sum = 0;
      for (std::int64_t j = 0; j < op.skv; ++j) {
        double score = 0;
        for (std::int64_t i = 0; i < op.d; ++i) {
          score += c.at(c.q, op.hq, op.sq, op.d, block.batch, head, row, i) *
                   c.at(c.k, op.hkv, op.skv, op.d, block.batch, keyHead, j, i);
        }
        const bool visible = op.mask == MaskKind::none || j - op.skv <= row - op.sq;
        weights.push_back(visible ? std::exp(score * op.scale) : 0);
        sum += weights.back();
      }
      EXPECT_NEAR(reference.rows[at].lse, std::log(sum), 1e-12);
      for (std::int64_t i = 0; i < op.dv; ++i) {
        double expected = 0, magnitude = 0;
        for (std::int64_t j = 0; j < op.skv; ++j) {
          const double value = c.at(c.v, op.hkv, op.skv, op.dv, block.batch, keyHead, j, i);
          expected += weights[static_cast<std::size_t>(j)] / sum * value;
          magnitude += weights[static_cast<std::size_t>(j)] / sum * std::fabs(value);
        }
        const auto element = at * static_cast<std::size_t>(op.dv) + static_cast<std::size_t>(i);
        ASSERT_NEAR(reference.value[element], expected, 1e-12) << head << ' ' << row << ' ' << i;
        ASSERT_NEAR(reference.magnitude[element], magnitude, 1e-12);
      }
    }
  }
}

TEST(AttentionReference, FollowsTheDefinition) {
  expectDefinition(Case("b=2 hq=6 hkv=2 sq=3 skv=37 d=64 dtype=bf16"), {1, 3, 1, 2, 2});
  expectDefinition(Case("b=1 hq=4 hkv=1 sq=5 skv=300 d=64 dtype=f16 mask=causal"), {0, 1, 0, 3, 5});
  expectDefinition(Case("b=2 hq=2 hkv=2 sq=4 skv=9 d=128 dtype=bf16 mask=causal layout=bshd"),
                   {1, 1, 0, 1, 4});
  expectDefinition(Case("b=1 hq=2 hkv=1 sq=2 skv=20 d=24 dv=40 dtype=f16 scale=0.5"),
                   {0, 0, 0, 2, 2});
}

TEST(AttentionReference, RowsThatSeeNothing) {
  const Case c("b=1 hq=1 hkv=1 sq=5 skv=3 d=64 dtype=bf16 mask=causal");
  const AttentionReference reference = c.reference({0, 0, 0, 1, 5});
  for (std::size_t row = 0; row < 2; ++row) {
    EXPECT_EQ(reference.rows[row].visible, 0);
    EXPECT_EQ(reference.rows[row].lse, -std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < 64; ++i) {
      EXPECT_EQ(reference.value[row * 64 + i], 0);
    }
  }
  EXPECT_EQ(reference.rows[2].visible, 1);
  EXPECT_EQ(reference.value[2 * 64], c.at(c.v, 1, 3, 64, 0, 0, 0, 0));
}

TEST(AttentionReference, KnowsWhatErrorsDependOn) {
  Case c("b=1 hq=1 hkv=1 sq=1 skv=8 d=64 dtype=bf16");
  std::fill(c.q.begin(), c.q.end(), 0); // all scores 0
  const AttentionRow row = c.reference({}).rows[0];
  EXPECT_EQ(row.largestScore, 0);
  EXPECT_EQ(row.largestProducts, 0);
  EXPECT_EQ(row.belowMaximum, 0);
  EXPECT_EQ(row.inverseMaximum, 1.0 / 8);
  EXPECT_DOUBLE_EQ(row.lse, std::log(8));
}

TEST(AttentionReference, SaysWhatItDoesNotCover) {
  for (const char *keys : {"mask=window:3", "mask=prefix:2", "score=alibi", "page=16", "sinks=1"}) {
    const auto problem =
        parseProblem(std::string("attention b=1 hq=1 hkv=1 sq=1 skv=8 d=64 dtype=bf16 ") + keys);
    EXPECT_FALSE(checkReferenceCovers(problem->attention())) << keys;
  }
}

} // namespace
} // namespace kw
