// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/foreign/AttentionTile.h"
#include "costmodel/foreign/ForeignModel.h"

#include <gtest/gtest.h>
#include <numeric>

namespace kw {
namespace {

MeasuredRow attentionRow(bool causal, const std::string &op = "attn_fwd") {
  MeasuredRow row;
  row.kind = RowKind::attention;
  row.op = op;
  row.gfx = "gfx950";
  row.typeA = row.typeB = row.typeOut = "bf16";
  row.attention = {2, 16, 4, 4096, 4096, 128, causal};
  row.kernels.push_back({"ck", ""});
  return row;
}

TEST(AttentionWork, CountsPairsThatAreNotMasked) {
  AttentionWork work;
  work.shape = {1, 1, 1, 3, 5, 64, true};
  EXPECT_EQ(work.pairs(), 3 + 4 + 5); // bottom right aligned
  work.shape = {2, 4, 1, 5, 3, 64, true};
  EXPECT_EQ(work.pairs(), 8 * (1 + 2 + 3));
  work.shape.causal = false;
  EXPECT_EQ(work.pairs(), 8 * 15);
  EXPECT_EQ(work.flops(), 4.0 * 64 * 8 * 15);
}

TEST(AttentionModel, CausalTakesBetweenHalfAndAll) {
  ForeignModel model;
  const auto whole = model.estimate(attentionRow(false)), half = model.estimate(attentionRow(true));
  ASSERT_TRUE(whole && half);
  EXPECT_LT(half->analytic.timeUs, 0.7 * whole->analytic.timeUs);
  EXPECT_GT(half->analytic.timeUs, 0.45 * whole->analytic.timeUs);
}

TEST(AttentionModel, BackwardTakesLongerAndTermsAddUp) {
  ForeignModel model;
  const auto forward = model.estimate(attentionRow(false));
  const auto backward = model.estimate(attentionRow(false, "attn_bwd"));
  ASSERT_TRUE(forward && backward);
  EXPECT_GT(backward->analytic.timeUs, 1.5 * forward->analytic.timeUs);
  const auto &terms = backward->analytic.termsUs;
  EXPECT_NEAR(std::accumulate(terms.begin(), terms.end(), 0.0), backward->analytic.timeUs,
              1e-9 * backward->analytic.timeUs);
  EXPECT_EQ(backward->features.size(), featureNames().size());
}

TEST(AttentionModel, RefusesOtherOperatorsByName) {
  ForeignModel model;
  const auto refused = model.estimate(attentionRow(false, "sparse_attn_fwd_csa"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "op=sparse_attn_fwd_csa: not modelled; attn_fwd and attn_bwd are");
}

} // namespace
} // namespace kw
