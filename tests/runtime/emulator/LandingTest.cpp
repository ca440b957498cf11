// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adversarial time: code that waits gives the same bytes whenever data land, code that does not
// gives others.
#include "Assembly.h"

#include <gtest/gtest.h>

namespace kw::test {
namespace {

struct Timed {
  Landing landing;
  std::uint64_t seed;
};

std::vector<Timed> timings() {
  std::vector<Timed> result;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    for (const Landing landing : {Landing::early, Landing::late, Landing::random}) {
      result.push_back({landing, seed});
    }
  }
  return result;
}

std::vector<std::uint8_t> outputOf(const std::string &body, unsigned waves, const Timed &timed) {
  Trial trial{.text = {.body = prologue + body, .ldsBytes = 8192},
              .in = std::vector<std::uint8_t>(4096)};
  for (std::size_t i = 0; i < trial.in.size(); ++i) {
    trial.in[i] = static_cast<std::uint8_t>(7 * i + i / 256);
  }
  trial.launch.block = {64 * waves, 1, 1};
  trial.options.strict = false;
  trial.options.landing = timed.landing;
  trial.options.wildTurns = true;
  trial.options.seed = timed.seed;
  trial.run();
  EXPECT_EQ(trial.error, "") << body;
  EXPECT_EQ(trial.findings(), "") << body;
  return trial.out;
}

struct Twin {
  const char *what;
  std::string broken, sound;
  unsigned waves = 1;
};

std::vector<Twin> twins() {
  const std::string store = "\n global_store_dword v1, v2, s[6:7]";
  const std::string loop = "s_mov_b32 s20, 8\n.Lx:\n";
  const std::string again = "\n s_sub_u32 s20, s20, 1\n s_cmp_lg_u32 s20, 0\n s_cbranch_scc1 .Lx\n";
  return {
      {"load without a wait", "global_load_dword v2, v1, s[4:5]" + store,
       "global_load_dword v2, v1, s[4:5]\n s_waitcnt vmcnt(0)" + store},
      {"counted wait too loose",
       "global_load_dword v3, v1, s[4:5]\n global_load_dword v2, v1, s[4:5]\n s_waitcnt vmcnt(1)" +
           store,
       "global_load_dword v2, v1, s[4:5]\n global_load_dword v3, v1, s[4:5]\n s_waitcnt vmcnt(1)" +
           store},
      {"destination used after the issue: data land early",
       "v_mov_b32 v2, 5\n global_load_dword v2, v1, s[4:5]\n v_add_u32 v3, v2, v2\n"
       "s_waitcnt vmcnt(0)\n global_store_dword v1, v3, s[6:7]",
       "v_mov_b32 v2, 5\n v_add_u32 v3, v2, v2\n global_load_dword v2, v1, s[4:5]\n"
       "s_waitcnt vmcnt(0)\n global_store_dword v1, v3, s[6:7]"},
      {"scalar load", "s_load_dword s20, s[4:5], 0x10\n v_mov_b32 v2, s20" + store,
       "s_load_dword s20, s[4:5], 0x10\n s_waitcnt lgkmcnt(0)\n v_mov_b32 v2, s20" + store},
      {"LDS read", "ds_write_b32 v1, v1\n ds_read_b32 v2, v1" + store,
       "ds_write_b32 v1, v1\n ds_read_b32 v2, v1\n s_waitcnt lgkmcnt(0)" + store},
      {"LDS write not waited for before the barrier",
       "ds_write_b32 v1, v1\n s_barrier\n v_xor_b32 v3, 0x100, v1\n ds_read_b32 v2, v3\n"
       "s_waitcnt lgkmcnt(0)" +
           store,
       "ds_write_b32 v1, v1\n s_waitcnt lgkmcnt(0)\n s_barrier\n v_xor_b32 v3, 0x100, v1\n"
       "ds_read_b32 v2, v3\n s_waitcnt lgkmcnt(0)" +
           store,
       4},
      {"LDS read still out when it is overwritten",
       "ds_write_b32 v1, v1\n s_waitcnt lgkmcnt(0)\n s_barrier\n v_xor_b32 v3, 0x100, v1\n" + loop +
           "ds_read_b32 v2, v3\n s_barrier\n v_add_u32 v4, s20, v1\n ds_write_b32 v1, v4\n"
           "s_waitcnt lgkmcnt(0)\n s_barrier" +
           again + store,
       "ds_write_b32 v1, v1\n s_waitcnt lgkmcnt(0)\n s_barrier\n v_xor_b32 v3, 0x100, v1\n" + loop +
           "ds_read_b32 v2, v3\n s_waitcnt lgkmcnt(0)\n s_barrier\n v_add_u32 v4, s20, v1\n"
           "ds_write_b32 v1, v4\n s_waitcnt lgkmcnt(0)\n s_barrier" +
           again + store,
       4},
      {"load to LDS",
       "s_mov_b32 m0, 0\n s_nop 0\n global_load_lds_dword v1, s[4:5]\n ds_read_b32 v2, v1\n"
       "s_waitcnt lgkmcnt(0)" +
           store,
       "s_mov_b32 m0, 0\n s_nop 0\n global_load_lds_dword v1, s[4:5]\n s_waitcnt vmcnt(0)\n"
       "ds_read_b32 v2, v1\n s_waitcnt lgkmcnt(0)" +
           store},
      {"no barrier",
       "ds_write_b32 v1, v1\n s_waitcnt lgkmcnt(0)\n v_xor_b32 v3, 0x100, v1\n ds_read_b32 v2, v3\n"
       "s_waitcnt lgkmcnt(0)" +
           store,
       "ds_write_b32 v1, v1\n s_waitcnt lgkmcnt(0)\n s_barrier\n v_xor_b32 v3, 0x100, v1\n"
       "ds_read_b32 v2, v3\n s_waitcnt lgkmcnt(0)" +
           store,
       4},
      // What is written over while it is read, halves of registers, several at a time.
      {"address register is the destination",
       "ds_write_b32 v1, v1 offset:16\n ds_read_b32 v2, v1 offset:16\n v_mov_b32 v2, v2" + store,
       "v_mov_b32 v2, v1\n ds_write_b32 v1, v1 offset:16\n ds_read_b32 v2, v2 offset:16\n"
       "s_waitcnt lgkmcnt(0)" +
           store},
      {"halves",
       "v_mov_b32 v2, 1\n global_load_short_d16_hi v2, v1, s[4:5]\n v_mov_b32 v2, 3\n"
       "s_waitcnt vmcnt(0)" +
           store,
       "v_mov_b32 v2, 1\n global_load_short_d16_hi v2, v1, s[4:5]\n s_waitcnt vmcnt(0)" + store},
  };
}

TEST(Landing, ShowsWhatWaitsForget) {
  for (const Twin &twin : twins()) {
    const std::vector<Timed> all = timings();
    const auto sound = outputOf(twin.sound, twin.waves, all[0]);
    const auto broken = outputOf(twin.broken, twin.waves, all[0]);
    bool differs = false;
    for (const Timed &timed : all) {
      EXPECT_EQ(outputOf(twin.sound, twin.waves, timed), sound)
          << twin.what << ": landing " << static_cast<int>(timed.landing) << " seed " << timed.seed;
      differs |= outputOf(twin.broken, twin.waves, timed) != broken;
    }
    EXPECT_TRUE(differs) << twin.what;
  }
}

TEST(Landing, StrictModeNeedsItEarly) {
  Trial trial{.text = {.body = prologue}};
  trial.options.landing = Landing::late;
  trial.run();
  EXPECT_NE(trial.error.find("strict"), std::string::npos) << trial.error;
}

TEST(Landing, IsAFunctionOfTheSeed) {
  const Twin twin = twins()[8];
  for (const Timed &timed : timings()) {
    EXPECT_EQ(outputOf(twin.broken, twin.waves, timed), outputOf(twin.broken, twin.waves, timed));
  }
}

} // namespace
} // namespace kw::test
