// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// v_cvt_scalef32_*: every code of the 8- and 4-bit floats, in every place that op_sel can name.
#include "Assembly.h"

#include <cmath>
#include <fmt/core.h>
#include <gtest/gtest.h>

namespace kw::test {
namespace {

/// Value of a code with `exponent` bits, bias and `mantissa` bits; NaN and infinity excluded.
double decode(unsigned code, int exponentBits, int mantissaBits, int bias) {
  const int mantissa = static_cast<int>(code & ((1u << mantissaBits) - 1));
  const int exponent = static_cast<int>(code >> mantissaBits & ((1u << exponentBits) - 1));
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissaBits)
                    : std::ldexp(mantissa + (1 << mantissaBits), exponent - bias - mantissaBits);
  return code >> (exponentBits + mantissaBits) & 1 ? -magnitude : magnitude;
}

struct Format {
  const char *name;
  int exponentBits, mantissaBits, bias;
  int width() const { return 1 + exponentBits + mantissaBits; }
  bool isNumber(unsigned code) const {
    const unsigned rest = code & ((1u << (width() - 1)) - 1);
    return width() < 8 || (exponentBits == 4 ? rest != 0x7f : rest < 0x7c);
  }
  double value(unsigned code) const { return decode(code, exponentBits, mantissaBits, bias); }
};

class ScaledConvert : public testing::TestWithParam<Format> {};

/// A scale of 2^3 whose mantissa does not count.
constexpr std::uint32_t scaleBits = (127 + 3) << 23 | 0x123456;

TEST_P(ScaledConvert, ToFloatAndBack) {
  const Format format = GetParam();
  const unsigned codes = 1u << format.width();
  for (int place = 0; place < 32 / (2 * format.width()); ++place) {
    const std::uint32_t mask = ((1u << 2 * format.width()) - 1) << place * 2 * format.width();
    Lanes in(256);
    for (unsigned i = 0; i < 256; ++i) {
      const unsigned both = (i % codes) | ((i + 3) % codes) << format.width();
      in[i] = (0x55555555 & ~mask) | both << place * 2 * format.width();
    }
    const bool isByte = format.width() == 4;
    const std::string from = isByte ? fmt::format("op_sel:[{},{},0]", place & 1, place >> 1)
                                    : fmt::format("op_sel:[{},0,0]", place);
    const std::string to = isByte ? fmt::format("op_sel:[0,0,{},{}]", place & 1, place >> 1)
                                  : fmt::format("op_sel:[0,0,0,{}]", place);
    const std::string toHalf = isByte ? to : fmt::format("op_sel:[0,0,{}]", place);
    const std::string body = fmt::format(R"(
      v_mov_b32 v20, {0:#x}
      v_cvt_scalef32_pk_f32_{1} v[64:65], v16, v20 {2}
      v_cvt_scalef32_pk_f16_{1} v66, v16, v20 {2}
      v_cvt_scalef32_pk_bf16_{1} v67, v16, v20 {2}
      v_mov_b32 v68, -1
      v_mov_b32 v69, -1
      v_mov_b32 v70, -1
      v_cvt_scalef32_pk_{1}_f32 v68, v64, v65, v20 {3}
      v_cvt_scalef32_pk_{1}_f16 v69, v66, v20 {4}
      v_cvt_scalef32_pk_{1}_bf16 v70, v67, v20 {4})",
                                         scaleBits, format.name, from, to, toHalf);
    const auto out = Snippet{.body = body, .inputs = {in}, .outputs = 7}.run();
    for (unsigned i = 0; i < 256; ++i) {
      const unsigned low = i % codes, high = (i + 3) % codes;
      if (!format.isNumber(low) || !format.isNumber(high)) {
        continue;
      }
      ASSERT_EQ(asFloat(out[0][i]), 8 * format.value(low)) << low << " place " << place;
      ASSERT_EQ(asFloat(out[1][i]), 8 * format.value(high)) << high << " place " << place;
      ASSERT_EQ(asFloat(out[3][i] << 16), 8 * format.value(low));
      const std::uint32_t want = ~mask | (in[i] & mask);
      ASSERT_EQ(out[4][i], want) << i;
      ASSERT_EQ(out[6][i], want) << i;
      if (std::fabs(8 * format.value(low)) < 65536 && std::fabs(8 * format.value(high)) < 65536) {
        ASSERT_EQ(out[5][i], want) << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ScaledConvert,
                         testing::Values(Format{"fp8", 4, 3, 7}, Format{"bf8", 5, 2, 15},
                                         Format{"fp4", 2, 1, 1}),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(ScaledConvertOne, TakesTheByteThatOpSelNames) {
  const Lanes in(64, 0x38c04038); // fp8 from the top: 1, -2, 2, 1
  const auto out = Snippet{.body = fmt::format(R"(
    v_mov_b32 v20, {:#x}
    v_cvt_scalef32_f32_fp8 v64, v16, v20
    v_cvt_scalef32_f32_fp8 v65, v16, v20 op_sel:[1,0,0]
    v_cvt_scalef32_f32_fp8 v66, v16, v20 op_sel:[0,1,0]
    v_mov_b32 v67, 0x1234
    v_cvt_scalef32_f16_fp8 v67, v16, v20 op_sel:[1,1,1])",
                                               scaleBits),
                           .inputs = {in},
                           .outputs = 4}
                       .run();
  EXPECT_EQ(asFloat(out[0][0]), 8.0f);
  EXPECT_EQ(asFloat(out[1][0]), 16.0f);
  EXPECT_EQ(asFloat(out[2][0]), -16.0f);
  EXPECT_EQ(out[3][0], 0x48001234u); // f16 8.0 above what was there
}

TEST(ThreeOperandHalf, MinimaMaximaAndMedians) {
  const Lanes a(64, 0x3c00), b(64, 0xc000), c(64, 0x4200); // 1, -2, 3
  const auto out = Snippet{.body = "v_min3_f16 v64, v16, v17, v18\n v_max3_f16 v65, v16, v17, v18\n"
                                   "v_med3_f16 v66, v16, v17, v18",
                           .inputs = {a, b, c},
                           .outputs = 3}
                       .run();
  EXPECT_EQ(out[0][0] & 0xffff, 0xc000u);
  EXPECT_EQ(out[1][0] & 0xffff, 0x4200u);
  EXPECT_EQ(out[2][0] & 0xffff, 0x3c00u);
}

} // namespace
} // namespace kw::test
