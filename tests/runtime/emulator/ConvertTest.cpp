// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Assembly.h"

#include <cmath>
#include <gtest/gtest.h>

namespace kw::test {
namespace {

using u32 = std::uint32_t;

/// The nearest value of a format with `mantissa` bits and exponents from `lowest`, ties to even, in
/// double arithmetic: independent of bit tricks.
double nearest(double x, int mantissa, int lowest) {
  if (x == 0 || !std::isfinite(x)) {
    return x;
  }
  const int exponent = std::max(std::ilogb(x), lowest);
  const double step = std::ldexp(1.0, exponent - mantissa);
  return std::nearbyint(x / step) * step;
}

/// All upper halves with some lower halves, in particular ties and their neighbours.
Lanes allFloats(std::initializer_list<u32> lowHalves) {
  Lanes lanes;
  for (const u32 low : lowHalves) {
    for (u32 high = 0; high < 65536; ++high) {
      lanes.push_back(high << 16 | low);
    }
  }
  return lanes;
}

TEST(Convert, Bf16OfEveryUpperHalf) {
  const Lanes in = allFloats({0, 1, 0x7fff, 0x8000, 0x8001, 0xffff});
  const auto out = Snippet{.body = "v_cvt_pk_bf16_f32 v64, v16, -v16", .inputs = {in}}.run();
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double x = asFloat(in[i]);
    const float low = asFloat(out[0][i] << 16), high = asFloat(out[0][i] & 0xffff0000);
    if (std::isnan(x)) {
      ASSERT_TRUE(std::isnan(low) && std::isnan(high)) << std::hex << in[i];
      continue;
    }
    double want = nearest(x, 7, -126);
    want = std::fabs(want) >= 0x1p128 ? std::copysign(INFINITY, want) : want;
    ASSERT_EQ(low, static_cast<float>(want)) << std::hex << in[i];
    ASSERT_EQ(high, -static_cast<float>(want)) << std::hex << in[i];
  }
}

TEST(Convert, F16BothWays) {
  Lanes halves(65536);
  for (u32 i = 0; i < 65536; ++i) {
    halves[i] = i;
  }
  const auto wide = Snippet{.body = "v_cvt_f32_f16 v64, v16\n v_cvt_f16_f32 v65, v64",
                            .inputs = {halves},
                            .outputs = 2}
                        .run();
  for (u32 i = 0; i < 65536; ++i) {
    const int exponent = i >> 10 & 31;
    const double magnitude =
        exponent == 0 ? std::ldexp(i & 1023, -24) : std::ldexp((i & 1023) + 1024, exponent - 25);
    const double want = i & 0x8000 ? -magnitude : magnitude;
    if (exponent < 31) {
      ASSERT_EQ(asFloat(wide[0][i]), want) << i;
      ASSERT_EQ(wide[1][i], i);
    } else {
      ASSERT_EQ(std::isnan(asFloat(wide[0][i])), (i & 1023) != 0) << i;
    }
  }
  const Lanes in = allFloats({0, 1, 0x0fff, 0x1000, 0x1001, 0x8000});
  const auto out = Snippet{.body = "v_cvt_f16_f32 v20, v16\n v_cvt_f32_f16 v64, v20\n"
                                   "v_cvt_pk_f16_f32 v65, v16, v16\n"
                                   "v_cvt_pkrtz_f16_f32 v21, v16, v16\n v_cvt_f32_f16 v66, v21",
                           .inputs = {in},
                           .outputs = 3}
                       .run();
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double x = asFloat(in[i]);
    if (std::isnan(x)) {
      ASSERT_TRUE(std::isnan(asFloat(out[0][i])));
      continue;
    }
    double want = nearest(x, 10, -14);
    want = std::fabs(want) >= 65536 ? std::copysign(INFINITY, want) : want;
    ASSERT_EQ(asFloat(out[0][i]), want) << x;
    ASSERT_EQ(out[1][i] & 0xffff, out[1][i] >> 16);
    if (std::isinf(x)) {
      ASSERT_EQ(asFloat(out[2][i]), x);
      continue;
    }
    const double cut = asFloat(out[2][i]);
    ASSERT_LE(std::fabs(cut), std::fabs(x));
    ASSERT_TRUE(std::fabs(cut) == 65504 ||
                std::fabs(x - cut) < std::max(std::fabs(x), 0x1p-14) * 0x1p-10)
        << x << " " << cut;
  }
}

TEST(Convert, Fp8OfEveryByte) {
  Lanes bytes(256);
  for (u32 i = 0; i < 256; ++i) {
    bytes[i] = i | (255 - i) << 8;
  }
  const auto out = Snippet{.body = R"(
    v_cvt_pk_f32_fp8 v[64:65], v16
    v_cvt_pk_f32_bf8 v[66:67], v16
    v_mov_b32 v68, -1
    v_cvt_pk_fp8_f32 v68, v64, v65
    v_mov_b32 v69, 0
    v_cvt_pk_bf8_f32 v69, v66, v67 op_sel:[0,0,1])",
                           .inputs = {bytes},
                           .outputs = 6}
                       .run();
  for (u32 i = 0; i < 256; ++i) {
    const int exponent = i >> 3 & 15, mantissa = i & 7;
    const double magnitude =
        exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(mantissa + 8, exponent - 10);
    if ((i & 127) == 127) {
      EXPECT_TRUE(std::isnan(asFloat(out[0][i])));
    } else {
      EXPECT_EQ(asFloat(out[0][i]), i & 128 ? -magnitude : magnitude) << i;
      EXPECT_EQ(out[4][i] & 255, i);
    }
    const int e5 = i >> 2 & 31, m2 = i & 3;
    if (e5 < 31) {
      const double m = e5 == 0 ? std::ldexp(m2, -16) : std::ldexp(m2 + 4, e5 - 17);
      EXPECT_EQ(asFloat(out[2][i]), i & 128 ? -m : m) << i;
      EXPECT_EQ(out[5][i] >> 16 & 255, i);
    }
    EXPECT_EQ(out[4][i] >> 16, 0xffffu);
    EXPECT_EQ(out[5][i] & 0xffff, 0u);
  }
}

TEST(Convert, FloatToIntegerSaturates) {
  const auto clampTo = [](double x, double low, double high) {
    return std::isnan(x) ? 0.0 : std::trunc(std::min(std::max(x, low), high));
  };
  expectLanes("v_cvt_i32_f32 v64, v16", {randomFloats(512, 3)}, [&](u32 a, u32, u32) {
    return static_cast<u32>(
        static_cast<std::int32_t>(clampTo(asFloat(a), -2147483648.0, 2147483647.0)));
  });
  expectLanes("v_cvt_u32_f32 v64, v16", {randomFloats(512, 4)}, [&](u32 a, u32, u32) {
    return static_cast<u32>(clampTo(asFloat(a), 0, 4294967295.0));
  });
}

} // namespace
} // namespace kw::test
