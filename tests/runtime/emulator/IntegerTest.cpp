// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Assembly.h"

#include <algorithm>
#include <bit>
#include <gtest/gtest.h>

namespace kw::test {
namespace {

using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;

struct Case {
  const char *text;
  u32 (*expected)(u32, u32, u32);
};

TEST(Integer, MatchesScalarArithmetic) {
  const Case cases[] = {
      {"v_mov_b32 v64, v16", [](u32 a, u32, u32) { return a; }},
      {"v_not_b32 v64, v16", [](u32 a, u32, u32) { return ~a; }},
      {"v_and_b32 v64, v16, v17", [](u32 a, u32 b, u32) { return a & b; }},
      {"v_or_b32 v64, v16, v17", [](u32 a, u32 b, u32) { return a | b; }},
      {"v_xor_b32 v64, 0x12345678, v17", [](u32, u32 b, u32) { return 0x12345678 ^ b; }},
      {"v_and_or_b32 v64, v16, v17, v18", [](u32 a, u32 b, u32 c) { return (a & b) | c; }},
      {"v_or3_b32 v64, v16, v17, v18", [](u32 a, u32 b, u32 c) { return a | b | c; }},
      {"v_xad_u32 v64, v16, v17, v18", [](u32 a, u32 b, u32 c) { return (a ^ b) + c; }},
      {"v_bfi_b32 v64, v16, v17, v18", [](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }},
      // 0x6c: b xor (a and c)
      {"v_bitop3_b32 v64, v16, v17, v18 bitop3:0x6c",
       [](u32 a, u32 b, u32 c) { return b ^ (a & c); }},
      {"v_add_u32 v64, v16, v17", [](u32 a, u32 b, u32) { return a + b; }},
      {"v_sub_u32 v64, v16, v17", [](u32 a, u32 b, u32) { return a - b; }},
      {"v_subrev_u32 v64, 7, v17", [](u32, u32 b, u32) { return b - 7; }},
      {"v_add_u32_e64 v64, v16, v17 clamp",
       [](u32 a, u32 b, u32) { return a + b < a ? ~0u : a + b; }},
      {"v_add3_u32 v64, v16, v17, v18", [](u32 a, u32 b, u32 c) { return a + b + c; }},
      {"v_mul_lo_u32 v64, v16, v17", [](u32 a, u32 b, u32) { return a * b; }},
      {"v_mul_hi_u32 v64, v16, v17", [](u32 a, u32 b, u32) { return u32(u64(a) * b >> 32); }},
      {"v_mul_hi_i32 v64, v16, v17",
       [](u32 a, u32 b, u32) { return u32(std::int64_t(i32(a)) * i32(b) >> 32); }},
      {"v_mul_u32_u24 v64, v16, v17",
       [](u32 a, u32 b, u32) { return (a & 0xffffff) * (b & 0xffffff); }},
      {"v_mul_i32_i24 v64, v16, v17",
       [](u32 a, u32 b, u32) { return u32(i32(a << 8) >> 8) * u32(i32(b << 8) >> 8); }},
      {"v_mad_u32_u24 v64, v16, v17, v18",
       [](u32 a, u32 b, u32 c) { return (a & 0xffffff) * (b & 0xffffff) + c; }},
      {"v_lshlrev_b32 v64, v16, v17", [](u32 a, u32 b, u32) { return b << (a & 31); }},
      {"v_lshrrev_b32 v64, v16, v17", [](u32 a, u32 b, u32) { return b >> (a & 31); }},
      {"v_ashrrev_i32 v64, v16, v17", [](u32 a, u32 b, u32) { return u32(i32(b) >> (a & 31)); }},
      {"v_lshl_add_u32 v64, v16, 3, v18", [](u32 a, u32, u32 c) { return (a << 3) + c; }},
      {"v_add_lshl_u32 v64, v16, v17, 2", [](u32 a, u32 b, u32) { return (a + b) << 2; }},
      {"v_lshl_or_b32 v64, v16, 5, v18", [](u32 a, u32, u32 c) { return (a << 5) | c; }},
      {"v_bfe_u32 v64, v16, 5, 9", [](u32 a, u32, u32) { return a >> 5 & 511; }},
      {"v_bfe_i32 v64, v16, 8, 8", [](u32 a, u32, u32) { return u32(i32(a << 16) >> 24); }},
      {"v_bfrev_b32 v64, v16",
       [](u32 a, u32, u32) {
         u32 r = 0;
         for (int i = 0; i < 32; ++i) {
           r |= (a >> i & 1) << (31 - i);
         }
         return r;
       }},
      {"v_bcnt_u32_b32 v64, v16, v17", [](u32 a, u32 b, u32) { return std::popcount(a) + b; }},
      {"v_ffbh_u32 v64, v16",
       [](u32 a, u32, u32) { return a == 0 ? ~0u : u32(std::countl_zero(a)); }},
      {"v_ffbl_b32 v64, v16",
       [](u32 a, u32, u32) { return a == 0 ? ~0u : u32(std::countr_zero(a)); }},
      {"v_alignbit_b32 v64, v16, v17, v18",
       [](u32 a, u32 b, u32 c) { return u32((u64(a) << 32 | b) >> (c & 31)); }},
      {"v_mov_b32 v20, 0x07060100\n v_perm_b32 v64, v16, v17, v20",
       [](u32 a, u32 b, u32) { return (a & 0xffff0000) | (b & 0xffff); }},
      {"v_min_u32 v64, v16, v17", [](u32 a, u32 b, u32) { return std::min(a, b); }},
      {"v_max_i32 v64, v16, v17", [](u32 a, u32 b, u32) { return u32(std::max(i32(a), i32(b))); }},
      {"v_med3_i32 v64, v16, v17, v18",
       [](u32 a, u32 b, u32 c) {
         i32 x[] = {i32(a), i32(b), i32(c)};
         std::sort(x, x + 3);
         return u32(x[1]);
       }},
      {"v_add_u16 v64, v16, v17", [](u32 a, u32 b, u32) { return (a + b) & 0xffff; }},
      {"v_lshlrev_b16 v64, v16, v17",
       [](u32 a, u32 b, u32) { return (b & 0xffff) << (a & 15) & 0xffff; }},
      // SDWA and op_sel pick parts
      {"v_or_b32_sdwa v64, v16, v17 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 "
       "src1_sel:WORD_1",
       [](u32 a, u32 b, u32) { return (a >> 8 & 255) | b >> 16; }},
      {"v_and_b32_sdwa v64, sext(v16), v17 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 "
       "src1_sel:DWORD",
       [](u32 a, u32 b, u32) { return u32(i32(std::int8_t(a & 255))) & b; }},
      {"v_add_u32_sdwa v64, v16, sext(v17) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD "
       "src1_sel:WORD_1",
       [](u32 a, u32 b, u32) { return a + u32(i32(std::int16_t(b >> 16))); }},
      {"v_mov_b32 v64, v17\n v_add_u32_sdwa v64, v16, v17 dst_sel:WORD_1 "
       "dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_0",
       [](u32 a, u32 b, u32) { return (b & 0xffff) | (a + b) << 16; }},
  };
  const std::vector<Lanes> inputs{randomLanes(256, 1), randomLanes(256, 2), randomLanes(256, 3)};
  for (const Case &c : cases) {
    expectLanes(c.text, inputs, c.expected);
  }
}

TEST(Integer, SixtyFourBits) {
  const std::vector<Lanes> in{randomLanes(256, 4), randomLanes(256, 5), randomLanes(256, 6),
                              randomLanes(256, 7)};
  const auto out = Snippet{.body = R"(
    v_mad_u64_u32 v[64:65], s[20:21], v16, v17, v[18:19]
    v_lshl_add_u64 v[66:67], v[16:17], 3, v[18:19]
    v_lshlrev_b64 v[68:69], v16, v[18:19]
    v_lshrrev_b64 v[70:71], v16, v[18:19]
    v_mov_b64 v[72:73], v[16:17]
    v_add_co_u32 v74, vcc, v16, v18
    s_nop 1
    v_addc_co_u32 v75, vcc, v17, v19, vcc
    v_mov_b32 v76, 0
    s_nop 1
    v_addc_co_u32 v76, vcc, 0, v76, vcc)",
                           .inputs = in,
                           .outputs = 13}
                       .run();
  for (std::size_t i = 0; i < 256; ++i) {
    const u64 a = in[0][i] | u64(in[1][i]) << 32, b = in[2][i] | u64(in[3][i]) << 32;
    const auto pair = [&](int at) { return out[at][i] | u64(out[at + 1][i]) << 32; };
    EXPECT_EQ(pair(0), u64(in[0][i]) * in[1][i] + b);
    EXPECT_EQ(pair(2), (a << 3) + b);
    EXPECT_EQ(pair(4), b << (in[0][i] & 63));
    EXPECT_EQ(pair(6), b >> (in[0][i] & 63));
    EXPECT_EQ(pair(8), a);
    EXPECT_EQ(pair(10), a + b);
    EXPECT_EQ(out[12][i], a + b < a ? 1u : 0u);
  }
}

TEST(Integer, InactiveLanesKeepTheirValue) {
  const auto out = Snippet{.body = R"(
    v_mov_b32 v64, 5
    s_mov_b32 exec_lo, 0x00ff00ff
    s_mov_b32 exec_hi, 0x00ff00ff
    v_add_u32 v64, v16, v16)",
                           .inputs = {randomLanes(64, 8)}};
  const Lanes in = out.inputs[0], got = out.run()[0];
  for (int lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(got[lane], lane % 16 < 8 ? 2 * in[lane] : 5u) << lane;
  }
}

TEST(Integer, AgprsAreVectorRegistersBehindTheAccumulationOffset) {
  // accum_offset is 128 here: a0 is v128.
  expectLanes("v_accvgpr_write_b32 a3, v16\n s_nop 1\n v_accvgpr_mov_b32 a4, a3\n s_nop 1\n"
              "v_accvgpr_read_b32 v20, a4\n v_mov_b32 v64, v132",
              {randomLanes(64, 9)}, [](u32 a, u32, u32) { return a; });
}

} // namespace
} // namespace kw::test
