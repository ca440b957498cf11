// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Assembly.h"

#include <cstring>
#include <gtest/gtest.h>

namespace kw::test {
namespace {

using u32 = std::uint32_t;

std::vector<std::uint8_t> words(u32 count) {
  std::vector<std::uint8_t> bytes(4 * count);
  for (u32 i = 0; i < count; ++i) {
    const u32 x = i + 1;
    std::memcpy(&bytes[4 * i], &x, 4);
  }
  return bytes;
}
u32 wordAt(const std::vector<std::uint8_t> &bytes, std::size_t i) {
  u32 x;
  std::memcpy(&x, &bytes[4 * i], 4);
  return x;
}

/// Raw buffer of the input in s[8:11], of the output in s[12:15], each of `records` bytes.
std::string buffers(int records) {
  return std::string(prologue) + "s_mov_b32 s8, s4\n s_mov_b32 s9, s5\n s_mov_b32 s10, " +
         std::to_string(records) + "\n s_mov_b32 s11, 0x27000\n s_mov_b32 s12, s6\n" +
         "s_mov_b32 s13, s7\n s_mov_b32 s14, " + std::to_string(records) +
         "\n s_mov_b32 s15, 0x27000\n";
}

TEST(Buffer, LoadsPastTheEndGiveZeroByDword) {
  // 64 lanes of 16 bytes, the buffer ends in the middle of lane 10.
  Trial trial{.text = {.body = buffers(168) + R"(
    v_lshlrev_b32 v2, 2, v1
    buffer_load_dwordx4 v[4:7], v2, s[8:11], 0 offen
    s_waitcnt vmcnt(0)
    global_store_dwordx4 v2, v[4:7], s[6:7])"},
              .in = words(256)};
  trial.run();
  EXPECT_EQ(trial.findings(), "");
  for (u32 i = 0; i < 256; ++i) {
    EXPECT_EQ(wordAt(trial.out, i), i < 42 ? i + 1 : 0) << i;
  }
}

TEST(Buffer, StoresPastTheEndAreDropped) {
  Trial trial{.text = {.body = buffers(100) + R"(
    s_mov_b32 s16, 16
    v_mov_b32 v3, 9
    buffer_store_dword v3, v1, s[12:15], s16 offen offset:4)"},
              .in = words(1)};
  trial.run();
  EXPECT_EQ(trial.findings(), "");
  for (u32 i = 0; i < 64; ++i) {
    EXPECT_EQ(wordAt(trial.out, i), i >= 5 && i < 25 ? 9u : 0u) << i;
  }
}

TEST(Buffer, StructuredIndexIsAllOrNothing) {
  Trial trial{.text = {.body = buffers(10) + R"(
    s_or_b32 s9, s9, 0x80000
    v_lshrrev_b32 v2, 2, v1
    buffer_load_dwordx2 v[4:5], v2, s[8:11], 0 idxen
    v_lshlrev_b32 v3, 1, v1
    s_waitcnt vmcnt(0)
    global_store_dwordx2 v3, v[4:5], s[6:7])"},
              .in = words(256)};
  trial.run();
  EXPECT_EQ(trial.findings(), "");
  for (u32 lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(wordAt(trial.out, 2 * lane), lane < 10 ? 2 * lane + 1 : 0);
  }
}

TEST(Buffer, DirectToLdsUsesM0AndTheLaneNumber) {
  for (const bool wide : {true, false}) {
    Trial trial{.text = {.body = buffers(1024) + (wide ? R"(
    s_mov_b32 m0, 0x100
    v_lshlrev_b32 v2, 2, v1
    buffer_load_dwordx4 v2, s[8:11], 0 offen offset:32 lds
    s_waitcnt vmcnt(0)
    ds_read_b128 v[4:7], v2 offset:288
    s_waitcnt lgkmcnt(0)
    global_store_dwordx4 v2, v[4:7], s[6:7])"
                                                       : R"(
    s_mov_b32 m0, 0x100
    s_nop 0
    global_load_lds_dword v1, s[4:5] offset:32
    s_waitcnt vmcnt(0)
    ds_read_b32 v4, v1 offset:288
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v4, s[6:7])"),
                         .ldsBytes = 2048},
                .in = words(264)};
    trial.run();
    EXPECT_EQ(trial.findings(), "");
    for (u32 i = 0; i < (wide ? 248u : 64u); ++i) {
      EXPECT_EQ(wordAt(trial.out, i), i + 9) << i;
    }
    if (wide) {
      EXPECT_EQ(wordAt(trial.out, 255), 0u); // past num_records: 0 arrives in LDS
    }
  }
}

TEST(Global, WidthsSignsAndHalves) {
  Trial trial{.text = {.body = std::string(prologue) + R"(
    global_load_sbyte v4, v1, s[4:5] offset:1
    global_load_ushort v5, v1, s[4:5] offset:2
    v_mov_b32 v6, -1
    v_mov_b32 v7, -1
    global_load_short_d16 v6, v1, s[4:5]
    global_load_short_d16_hi v7, v1, s[4:5]
    v_lshlrev_b32 v3, 2, v1
    s_waitcnt vmcnt(0)
    global_store_dwordx4 v3, v[4:7], s[6:7]
    global_store_short_d16_hi v1, v7, s[6:7] offset:2048
    global_store_byte v1, v4, s[6:7] offset:2050)"},
              .in = words(64)};
  trial.in[1] = 0x80;
  trial.run();
  EXPECT_EQ(trial.findings(), "");
  EXPECT_EQ(wordAt(trial.out, 0), 0xffffff80u);
  EXPECT_EQ(wordAt(trial.out, 2), 0xffff8001u);
  EXPECT_EQ(wordAt(trial.out, 3), 0x8001ffffu);
  EXPECT_EQ(wordAt(trial.out, 512), 0x00808001u);
}

TEST(Global, AtomicsReturnTheOldValue) {
  Trial trial{.text = {.body = std::string(prologue) + R"(
    v_mov_b32 v2, 0
    v_mov_b32 v3, 1.0
    v_mov_b32 v4, 0
    global_store_dwordx2 v2, v[2:3], s[6:7]
    s_waitcnt vmcnt(0)
    global_atomic_add_f32 v2, v3, s[6:7] offset:4
    v_mov_b32 v5, 1
    global_atomic_add v6, v2, v5, s[6:7] sc0
    s_waitcnt vmcnt(0)
    global_store_dword v1, v6, s[6:7] offset:16)"},
              .in = words(64)};
  trial.run();
  EXPECT_EQ(trial.findings(), "");
  EXPECT_EQ(wordAt(trial.out, 0), 64u);
  EXPECT_EQ(asFloat(wordAt(trial.out, 1)), 65.0f);
  for (u32 lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(wordAt(trial.out, 4 + lane), lane);
  }
}

TEST(Scratch, SpillAndReload) {
  const Lanes in = randomLanes(64, 3);
  const auto out = Snippet{.body = R"(
    s_mov_b32 s20, 8
    scratch_store_dword off, v16, off offset:4
    scratch_store_dwordx2 off, v[16:17], s20 offset:8
    v_mov_b32 v20, 16
    s_waitcnt vmcnt(0)
    scratch_load_dword v64, off, off offset:4
    scratch_load_dword v65, v20, off offset:4
    s_waitcnt vmcnt(0))",
                           .inputs = {in, in},
                           .outputs = 2,
                           .scratchBytes = 64}
                       .run();
  EXPECT_EQ(out[0], in);
  EXPECT_EQ(out[1], in);
}

} // namespace
} // namespace kw::test
