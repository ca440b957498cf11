// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Assembly.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>

namespace kw::test {
namespace {

using u32 = std::uint32_t;

/// Denormals of transcendental instructions become zeros.
float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

struct Case {
  const char *text;
  float (*expected)(float, float, float);
};

TEST(Float, MatchesTheHost) {
  const Case cases[] = {
      {"v_add_f32 v64, v16, v17", [](float a, float b, float) { return a + b; }},
      {"v_sub_f32 v64, v16, v17", [](float a, float b, float) { return a - b; }},
      {"v_mul_f32 v64, v16, v17", [](float a, float b, float) { return a * b; }},
      {"v_fma_f32 v64, v16, -v17, |v18|",
       [](float a, float b, float c) { return std::fma(a, -b, std::fabs(c)); }},
      {"v_mov_b32 v64, v18\n v_fmac_f32 v64, v16, v17",
       [](float a, float b, float c) { return std::fma(a, b, c); }},
      {"v_fmamk_f32 v64, v16, 0x40400000, v17",
       [](float a, float b, float) { return std::fma(a, 3.0f, b); }},
      {"v_fmaak_f32 v64, v16, v17, 0x40400000",
       [](float a, float b, float) { return std::fma(a, b, 3.0f); }},
      {"v_max_f32 v64, v16, v17", [](float a, float b, float) { return std::fmax(a, b); }},
      {"v_min_f32 v64, v16, v17", [](float a, float b, float) { return std::fmin(a, b); }},
      {"v_max3_f32 v64, v16, v17, v18",
       [](float a, float b, float c) { return std::fmax(std::fmax(a, b), c); }},
      {"v_add_f32_e64 v64, v16, v17 clamp",
       [](float a, float b, float) {
         const float x = a + b;
         return x > 0 ? std::min(x, 1.0f) : 0.0f;
       }},
      // Ignored in IEEE mode and where denormals are kept.
      {"v_mul_f32_e64 v64, v16, v17 mul:4", [](float a, float b, float) { return a * b; }},
      {"v_floor_f32 v64, v16", [](float a, float, float) { return std::floor(a); }},
      {"v_trunc_f32 v64, v16", [](float a, float, float) { return std::trunc(a); }},
      {"v_rndne_f32 v64, v16", [](float a, float, float) { return std::nearbyint(a); }},
      {"v_sqrt_f32 v20, v16\n s_nop 0\n v_mov_b32 v64, v20",
       [](float a, float, float) { return std::sqrt(flushed(a)); }},
      {"v_ldexp_f32 v64, v16, 3", [](float a, float, float) { return std::ldexp(a, 3); }},
      {"v_cvt_f32_i32 v64, v16",
       [](float a, float, float) { return static_cast<float>(std::bit_cast<int>(a)); }},
      {"v_cvt_f32_u32 v64, v16",
       [](float a, float, float) { return static_cast<float>(std::bit_cast<u32>(a)); }},
  };
  const std::vector<Lanes> inputs{randomFloats(512, 1), randomFloats(512, 2), randomFloats(512, 3)};
  for (const Case &c : cases) {
    expectLanes(c.text, inputs, [&](u32 a, u32 b, u32 d) {
      return bits(c.expected(asFloat(a), asFloat(b), asFloat(d)));
    });
  }
}

TEST(Float, TranscendentalsAreWithinOneUlp) {
  const struct {
    const char *text;
    double (*expected)(double);
  } cases[] = {
      {"v_exp_f32 v64, v16", [](double a) { return std::exp2(a); }},
      {"v_log_f32 v64, v16", [](double a) { return std::log2(a); }},
      {"v_rcp_f32 v64, v16", [](double a) { return 1 / a; }},
      {"v_rsq_f32 v64, v16", [](double a) { return 1 / std::sqrt(a); }},
  };
  const Lanes in = randomFloats(2048, 5);
  for (const auto &c : cases) {
    const Lanes got = Snippet{.body = c.text, .inputs = {in}}.run()[0];
    for (std::size_t i = 0; i < in.size(); ++i) {
      const float want = flushed(static_cast<float>(c.expected(flushed(asFloat(in[i])))));
      const float have = asFloat(got[i]);
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(have)) << c.text << asFloat(in[i]);
      } else {
        EXPECT_LE(std::abs(std::int64_t(got[i]) - std::int64_t(bits(want))), 1)
            << c.text << " " << asFloat(in[i]) << " gave " << have;
      }
    }
  }
}

// The sequence that LLVM emits for a correctly rounded f32 division.
TEST(Float, DivisionSequenceIsExact) {
  const std::vector<Lanes> in{randomFloats(512, 6), randomFloats(512, 7)};
  const auto out = Snippet{.body = R"(
    v_div_scale_f32 v20, s[20:21], v17, v17, v16
    v_div_scale_f32 v21, vcc, v16, v17, v16
    v_rcp_f32 v22, v20
    s_nop 0
    v_fma_f32 v23, -v20, v22, 1.0
    v_fma_f32 v22, v23, v22, v22
    v_mul_f32 v24, v21, v22
    v_fma_f32 v25, -v20, v24, v21
    v_fma_f32 v24, v25, v22, v24
    v_fma_f32 v20, -v20, v24, v21
    v_div_fmas_f32 v20, v20, v22, v24
    v_div_fixup_f32 v64, v20, v17, v16)",
                           .inputs = in}
                       .run();
  for (std::size_t i = 0; i < in[0].size(); ++i) {
    const float want = asFloat(in[0][i]) / asFloat(in[1][i]);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(asFloat(out[0][i])));
    } else {
      EXPECT_EQ(out[0][i], bits(want)) << asFloat(in[0][i]) << " / " << asFloat(in[1][i]);
    }
  }
}

TEST(Float, PackedF32PicksWordsAndSigns) {
  const std::vector<Lanes> in{randomFloats(64, 8), randomFloats(64, 9), randomFloats(64, 10),
                              randomFloats(64, 11)};
  const auto out = Snippet{.body = R"(
    v_pk_mul_f32 v[64:65], v[16:17], v[18:19] op_sel_hi:[1,0]
    v_pk_add_f32 v[66:67], v[16:17], v[18:19] neg_lo:[0,1]
    v_pk_fma_f32 v[68:69], v[16:17], v[18:19], v[16:17] op_sel:[1,0,0])",
                           .inputs = in,
                           .outputs = 6}
                       .run();
  const auto same = [](u32 got, float want) {
    return got == bits(want) || (std::isnan(asFloat(got)) && std::isnan(want));
  };
  for (int i = 0; i < 64; ++i) {
    const float a = asFloat(in[0][i]), b = asFloat(in[1][i]), c = asFloat(in[2][i]),
                d = asFloat(in[3][i]);
    EXPECT_TRUE(same(out[0][i], a * c) && same(out[1][i], b * c));
    EXPECT_TRUE(same(out[2][i], a - c) && same(out[3][i], b + d));
    EXPECT_TRUE(same(out[4][i], std::fma(b, c, a)) && same(out[5][i], std::fma(b, d, b)));
  }
}

TEST(Float, DenormalsAreFlushedWhenTheModeSaysSo) {
  const Lanes in(64, bits(1e-40f));
  for (const bool flush : {false, true}) {
    const auto out =
        Snippet{.body = "v_mul_f32 v64, 2.0, v16", .inputs = {in}, .flushDenormals = flush}.run();
    EXPECT_EQ(out[0][0], flush ? 0u : bits(2 * 1e-40f));
  }
}

} // namespace
} // namespace kw::test
