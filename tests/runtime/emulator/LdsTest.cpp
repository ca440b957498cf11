// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Assembly.h"

#include <gtest/gtest.h>

namespace kw::test {
namespace {

using u32 = std::uint32_t;

Lanes iota(u32 start) {
  Lanes lanes(64);
  for (u32 i = 0; i < 64; ++i) {
    lanes[i] = start + i;
  }
  return lanes;
}

TEST(Lds, WidthsAndOffsets) {
  const auto out = Snippet{
      .body = R"(
    v_lshlrev_b32 v20, 2, v1
    ds_write_b128 v20, v[16:19]
    s_waitcnt lgkmcnt(0)
    ds_read_b128 v[64:67], v20
    ds_read_b64 v[68:69], v20 offset:8
    ds_read_u16 v70, v20 offset:2
    ds_read_i8 v71, v20 offset:3
    ds_read2_b32 v[72:73], v20 offset0:1 offset1:3
    v_mov_b32 v74, -1
    s_waitcnt lgkmcnt(0)
    ds_read_u16_d16_hi v74, v20
    ds_write_b16 v20, v19 offset:4
    ds_write_b8 v20, v19 offset:8
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v75, v20 offset:4
    ds_read_b32 v76, v20 offset:8
    s_waitcnt lgkmcnt(0))",
      .inputs = {randomLanes(64, 1), randomLanes(64, 2), randomLanes(64, 3), randomLanes(64, 4)},
      .outputs = 13,
      .ldsBytes = 1024};
  const auto got = out.run();
  const auto &in = out.inputs;
  for (int l = 0; l < 64; ++l) {
    for (int word = 0; word < 4; ++word) {
      EXPECT_EQ(got[word][l], in[word][l]);
    }
    EXPECT_EQ(got[4][l], in[2][l]);
    EXPECT_EQ(got[5][l], in[3][l]);
    EXPECT_EQ(got[6][l], in[0][l] >> 16);
    EXPECT_EQ(got[7][l], static_cast<u32>(static_cast<std::int32_t>(in[0][l]) >> 24));
    EXPECT_EQ(got[8][l], in[1][l]);
    EXPECT_EQ(got[9][l], in[3][l]);
    EXPECT_EQ(got[10][l], 0xffff | in[0][l] << 16);
    EXPECT_EQ(got[11][l], (in[1][l] & 0xffff0000) | (in[3][l] & 0xffff));
    EXPECT_EQ(got[12][l], (in[2][l] & 0xffffff00) | (in[3][l] & 0xff));
  }
}

// result lane l, halfword n = source lane 16 (l/16) + (l mod 16)/4 + 4n, halfword l mod 4
TEST(Lds, TransposingReadOfHalfwords) {
  const auto out = Snippet{.body = R"(
    v_lshlrev_b32 v20, 1, v1
    v_lshlrev_b32 v21, 3, v1
    v_mad_u32_u24 v21, v1, 10, 8
    ds_write_b64 v21, v[16:17]
    s_waitcnt lgkmcnt(0)
    ds_read_b64_tr_b16 v[64:65], v21
    s_waitcnt lgkmcnt(0))",
                           .inputs = {randomLanes(64, 5), randomLanes(64, 6)},
                           .outputs = 2,
                           .ldsBytes = 4096};
  const auto got = out.run();
  for (int l = 0; l < 64; ++l) {
    for (int n = 0; n < 4; ++n) {
      const int source = 16 * (l / 16) + l % 16 / 4 + 4 * n, half = l % 4;
      const u32 want = out.inputs[half / 2][source] >> (16 * (half % 2)) & 0xffff;
      EXPECT_EQ(got[n / 2][l] >> (16 * (n % 2)) & 0xffff, want) << l << " " << n;
    }
  }
}

TEST(Lds, TransposingReadOfBytes) {
  const auto out = Snippet{.body = R"(
    v_lshlrev_b32 v20, 1, v1
    ds_write_b64 v20, v[16:17]
    s_waitcnt lgkmcnt(0)
    ds_read_b64_tr_b8 v[64:65], v20
    s_waitcnt lgkmcnt(0))",
                           .inputs = {randomLanes(64, 7), randomLanes(64, 8)},
                           .outputs = 2,
                           .ldsBytes = 512};
  const auto got = out.run();
  for (int l = 0; l < 64; ++l) {
    for (int n = 0; n < 8; ++n) {
      const int source = 16 * (l / 16) + l % 16 / 8 + 2 * n, byte = l % 8;
      const u32 want = out.inputs[byte / 4][source] >> (8 * (byte % 4)) & 255;
      EXPECT_EQ(got[n / 4][l] >> (8 * (n % 4)) & 255, want) << l << " " << n;
    }
  }
}

TEST(Lds, AtomicsOfLanesAddUp) {
  const auto out = Snippet{.body = R"(
    v_mov_b32 v20, 0
    v_mov_b32 v21, 0
    ds_write_b32 v20, v21
    s_waitcnt lgkmcnt(0)
    ds_add_u32 v20, v16
    ds_add_rtn_u32 v22, v20, v21
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v64, v22)",
                           .inputs = {iota(0)},
                           .ldsBytes = 64}
                       .run();
  EXPECT_EQ(out[0][0], 64u * 63 / 2);
}

} // namespace
} // namespace kw::test
