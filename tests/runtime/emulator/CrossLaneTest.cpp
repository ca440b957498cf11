// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Assembly.h"

#include <functional>
#include <gtest/gtest.h>

namespace kw::test {
namespace {

using u32 = std::uint32_t;

Lanes laneNumbers() {
  Lanes lanes(64);
  for (u32 i = 0; i < 64; ++i) {
    lanes[i] = i + 100;
  }
  return lanes;
}

/// `from` gives the source lane or -1 (the old value 7 stays).
void expectDpp(const std::string &control, const std::function<int(int)> &from) {
  const auto out = Snippet{.body = "v_mov_b32 v64, 7\n s_nop 1\n v_mov_b32_dpp v64, v16 " + control,
                           .inputs = {laneNumbers()}}
                       .run();
  for (int lane = 0; lane < 64; ++lane) {
    const int source = from(lane);
    EXPECT_EQ(out[0][lane], source < 0 ? 7u : u32(source) + 100) << control << " lane " << lane;
  }
}

TEST(CrossLane, DppModes) {
  const std::string all = " row_mask:0xf bank_mask:0xf";
  expectDpp("quad_perm:[1,0,3,2]" + all, [](int l) { return l ^ 1; });
  expectDpp("row_shl:3" + all, [](int l) { return l % 16 + 3 < 16 ? l + 3 : -1; });
  expectDpp("row_shr:5" + all, [](int l) { return l % 16 >= 5 ? l - 5 : -1; });
  expectDpp("row_ror:4" + all, [](int l) { return l / 16 * 16 + (l + 12) % 16; });
  expectDpp("row_mirror" + all, [](int l) { return l / 16 * 16 + 15 - l % 16; });
  expectDpp("row_half_mirror" + all, [](int l) { return l / 8 * 8 + 7 - l % 8; });
  expectDpp("row_bcast:15" + all, [](int l) { return l >= 16 ? l / 16 * 16 - 1 : -1; });
  expectDpp("row_bcast:31" + all, [](int l) { return l >= 32 ? 31 : -1; });
  expectDpp("row_newbcast:6" + all, [](int l) { return l / 16 * 16 + 6; });
  expectDpp("row_ror:1 row_mask:0xa bank_mask:0x3", [](int l) {
    return (l / 16 % 2 == 1) && l % 16 < 8 ? l / 16 * 16 + (l + 15) % 16 : -1;
  });
}

TEST(CrossLane, DppBoundControlReadsZero) {
  const auto out = Snippet{.body = "v_mov_b32 v64, 7\n s_nop 1\n v_add_u32_dpp v64, v16, v16 "
                                   "row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0",
                           .inputs = {laneNumbers()}}
                       .run();
  for (u32 lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(out[0][lane], (lane % 16 ? lane + 99 : 0) + lane + 100);
  }
}

TEST(CrossLane, PermlaneSwapsWriteBothRegisters) {
  Lanes second = laneNumbers();
  for (u32 &x : second) {
    x += 1000;
  }
  const auto out = Snippet{.body = R"(
    v_mov_b32 v64, v16
    v_mov_b32 v65, v17
    v_mov_b32 v66, v16
    v_mov_b32 v67, v17
    s_nop 1
    v_permlane32_swap_b32 v64, v65
    v_permlane16_swap_b32 v66, v67)",
                           .inputs = {laneNumbers(), second},
                           .outputs = 4}
                       .run();
  for (u32 lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(out[0][lane], lane < 32 ? lane + 100 : lane - 32 + 1100);
    EXPECT_EQ(out[1][lane], lane < 32 ? lane + 32 + 100 : lane + 1100);
    const bool odd = lane / 16 % 2;
    EXPECT_EQ(out[2][lane], odd ? lane - 16 + 1100 : lane + 100);
    EXPECT_EQ(out[3][lane], odd ? lane + 1100 : lane + 16 + 100);
  }
}

TEST(CrossLane, ReadAndWriteLanes) {
  const auto out = Snippet{.body = R"(
    s_mov_b64 exec, 0xf0
    v_readfirstlane_b32 s20, v16
    s_mov_b64 exec, 0
    v_readfirstlane_b32 s21, v16
    s_mov_b64 exec, -1
    v_readlane_b32 s22, v16, 63
    v_mov_b32 v64, v16
    s_nop 0
    v_writelane_b32 v64, s22, 5
    s_nop 3
    v_mov_b32 v65, s20
    v_mov_b32 v66, s21
    v_mbcnt_lo_u32_b32 v67, -1, 0
    v_mbcnt_hi_u32_b32 v67, -1, v67)",
                           .inputs = {laneNumbers()},
                           .outputs = 4}
                       .run();
  for (u32 lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(out[0][lane], lane == 5 ? 163u : lane + 100);
    EXPECT_EQ(out[1][lane], 104u);
    EXPECT_EQ(out[2][lane], 100u); // EXEC = 0 reads lane 0
    EXPECT_EQ(out[3][lane], lane);
  }
}

TEST(CrossLane, PermutesThroughTheLdsPipe) {
  const auto out = Snippet{.body = R"(
    v_mbcnt_lo_u32_b32 v20, -1, 0
    v_mbcnt_hi_u32_b32 v20, -1, v20
    v_sub_u32 v21, 63, v20
    v_lshlrev_b32 v21, 2, v21
    ds_bpermute_b32 v64, v21, v16
    ds_permute_b32 v65, v21, v16
    ds_swizzle_b32 v66, v16 offset:swizzle(SWAP,4)
    s_waitcnt lgkmcnt(0))",
                           .inputs = {laneNumbers()},
                           .outputs = 3}
                       .run();
  for (u32 lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(out[0][lane], 163 - lane);
    EXPECT_EQ(out[1][lane], 163 - lane);
    EXPECT_EQ(out[2][lane], (lane ^ 4) + 100);
  }
}

} // namespace
} // namespace kw::test
