// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Assembly.h"

#include <cstring>
#include <gtest/gtest.h>

namespace kw::test {
namespace {

using u32 = std::uint32_t;

u32 wordAt(const std::vector<std::uint8_t> &bytes, std::size_t i) {
  u32 x;
  std::memcpy(&x, &bytes[4 * i], 4);
  return x;
}

TEST(Control, LoopsAndSavedExec) {
  const auto out = Snippet{.body = R"(
    s_movk_i32 s20, 10
    v_mov_b32 v64, 0
  .Lloop:
    v_add_u32 v64, v64, v16
    s_add_i32 s20, s20, -1
    s_cmp_lg_u32 s20, 0
    s_cbranch_scc1 .Lloop
    v_cmp_gt_u32 vcc, 40, v1
    s_nop 4
    s_and_saveexec_b64 s[22:23], vcc
    s_cbranch_execz .Lskip
    v_mov_b32 v64, 3
  .Lskip:
    s_mov_b64 exec, s[22:23])",
                           .inputs = {Lanes(64, 5)}}
                       .run();
  for (int lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(out[0][lane], 4 * lane < 40 ? 3u : 50u);
  }
}

TEST(Control, WorkgroupAndWorkItemIds) {
  Trial trial{.text = {.body = R"(
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    v_bfe_u32 v2, v0, 10, 10
    v_bfe_u32 v3, v0, 20, 10
    v_and_b32 v1, 0x3ff, v0
    v_lshl_add_u32 v4, v2, 3, v1
    v_lshl_add_u32 v4, v3, 5, v4
    s_lshl_b32 s8, s2, 0
    s_lshl_b32 s9, s3, 8
    s_lshl_b32 s10, s4, 16
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v6, v4
    s_mul_i32 s11, s3, 2
    s_add_u32 s11, s11, s2
    s_lshl_b32 s11, s11, 9
    v_lshlrev_b32 v5, 2, v4
    v_add_u32 v5, s11, v5
    global_store_dword v5, v6, s[6:7])"},
              .outBytes = 4 * 512,
              .launch = {.grid = {2, 2, 1}, .block = {8, 4, 4}}};
  // s4 is read before the load lands on it: that must be a finding.
  trial.run();
  EXPECT_TRUE(trial.has(FindingKind::missingWait)) << trial.findings();
  for (u32 i = 0; i < 512; ++i) {
    EXPECT_EQ(wordAt(trial.out, i), i % 128) << i;
  }
}

TEST(Control, LastWaveIsPartial) {
  Trial trial{.text = {.body = std::string(prologue) + R"(
    v_mov_b32 v2, 1
    global_store_dword v1, v2, s[6:7])"},
              .outBytes = 4 * 128,
              .launch = {.block = {100, 1, 1}}};
  trial.run();
  EXPECT_EQ(trial.findings(), "");
  EXPECT_EQ(trial.result.waves, 2u);
  EXPECT_EQ(wordAt(trial.out, 99), 1u);
  EXPECT_EQ(wordAt(trial.out, 100), 0u);
}

TEST(Control, CallsAndReturns) {
  Trial trial{.text = {.body = std::string(prologue) + R"(
    s_getpc_b64 s[20:21]
  .Lbase:
    s_add_u32 s20, s20, .Lfunction-.Lbase
    s_addc_u32 s21, s21, 0
    s_swappc_b64 s[22:23], s[20:21]
    global_store_dword v1, v2, s[6:7]
    s_endpgm
  .Lfunction:
    v_mov_b32 v2, 42
    s_setpc_b64 s[22:23])"}};
  trial.run();
  EXPECT_EQ(trial.findings(), "");
  EXPECT_EQ(wordAt(trial.out, 63), 42u);
}

// Two waves take turns without a barrier: wave 1 spins until wave 0 has set a flag in LDS.
TEST(Control, SpinningWavesMakeProgress) {
  Trial trial{.text = {.body = std::string(prologue) + R"(
    v_mov_b32 v4, 0
    v_mov_b32 v5, 0
    ds_write_b32 v4, v5
    s_waitcnt lgkmcnt(0)
    s_barrier
    v_readfirstlane_b32 s20, v1
    s_cmp_eq_u32 s20, 0
    s_cbranch_scc1 .Lset
  .Lspin:
    ds_add_rtn_u32 v6, v4, v5
    s_waitcnt lgkmcnt(0)
    v_readfirstlane_b32 s21, v6
    s_cmp_eq_u32 s21, 0
    s_cbranch_scc1 .Lspin
    s_branch .Ldone
  .Lset:
    v_mov_b32 v7, 1
    ds_add_u32 v4, v7
    s_waitcnt lgkmcnt(0)
  .Ldone:
    v_mov_b32 v8, 9
    global_store_dword v1, v8, s[6:7])",
                       .ldsBytes = 64},
              .launch = {.block = {128, 1, 1}}};
  trial.run();
  EXPECT_EQ(wordAt(trial.out, 127), 9u);
  EXPECT_FALSE(trial.has(FindingKind::hang));
}

// Workgroup 1 waits for workgroup 0 through global memory, started in the wrong order.
TEST(Control, WorkgroupsThatWaitForEachOtherMakeProgress) {
  Trial trial{.text = {.body = std::string(prologue) + R"(
    v_mov_b32 v4, 0
    v_mov_b32 v5, 0
    s_cmp_eq_u32 s2, 1
    s_cbranch_scc1 .Lset
  .Lspin:
    s_load_dword s20, s[4:5], 0x0 glc
    s_waitcnt lgkmcnt(0)
    s_cmp_eq_u32 s20, 0
    s_cbranch_scc1 .Lspin
    v_mov_b32 v6, 5
    global_store_dword v1, v6, s[6:7]
    s_endpgm
  .Lset:
    v_mov_b32 v7, 1
    global_atomic_add v4, v7, s[4:5])"},
              .in = std::vector<std::uint8_t>(64),
              .launch = {.grid = {2, 1, 1}, .block = {64, 1, 1}}};
  trial.run();
  EXPECT_EQ(trial.findings(), "");
  EXPECT_EQ(wordAt(trial.out, 0), 5u);
}

TEST(Control, HiddenArguments) {
  const LoadedCode code = load({.body = prologue});
  const KernelFacts *facts = code.kernel("k");
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->arguments.size(), 2u);
  EXPECT_EQ(facts->kernargBytes, 64u);
  EXPECT_EQ(code.kernel("other"), nullptr);
}

TEST(Control, RefusedLaunches) {
  const LoadedCode code = load({.body = prologue, .blockLimit = 256});
  GlobalMemory memory;
  EXPECT_FALSE(emulate(code, "other", memory, {}).has_value());
  EXPECT_FALSE(emulate(code, "k", memory, {.block = {512, 1, 1}}).has_value());
  EXPECT_FALSE(emulate(code, "k", memory, {.block = {0, 1, 1}}).has_value());
  EXPECT_FALSE(emulate(code, "k", memory, {.block = {64, 1, 1}, .dynamicLds = 163841}).has_value());
}

TEST(Control, JobsAndSamplingDoNotChangeResults) {
  Trial trial{.text = {.body = std::string(prologue) + R"(
    s_lshl_b32 s10, s2, 8
    v_add_u32 v1, s10, v1
    v_mov_b32 v2, s2
    global_store_dword v1, v2, s[6:7])"},
              .outBytes = 4 * 64 * 20,
              .launch = {.grid = {20, 1, 1}, .block = {64, 1, 1}}};
  Trial threads = trial, sampled = trial;
  threads.options.jobs = 3;
  sampled.options.workgroups = {3, 17};
  trial.run();
  threads.run();
  sampled.run();
  EXPECT_EQ(trial.findings(), "");
  EXPECT_EQ(trial.out, threads.out);
  EXPECT_EQ(trial.result.instructions, threads.result.instructions);
  EXPECT_EQ(sampled.result.workgroups, 2u);
  EXPECT_EQ(wordAt(sampled.out, 64 * 17), 17u);
  EXPECT_EQ(wordAt(sampled.out, 64 * 4), 0u);
}

// All workgroups load past the buffer; from the fourth on each one loops for ever.
TEST(Control, AHangEndsTheLaunch) {
  for (const std::string atomics : {"", "v_mov_b32 v7, 0\n global_atomic_add v7, v7, s[6:7]\n"}) {
    for (const int jobs : {1, 3}) {
      Trial trial{.text = {.body = std::string(prologue) + atomics + R"(
        global_load_dword v2, v1, s[4:5] offset:4092
        s_waitcnt vmcnt(0)
        s_cmp_lt_u32 s2, 3
        s_cbranch_scc1 .Ldone
      .Lspin:
        s_branch .Lspin
      .Ldone:)"},
                  .in = std::vector<std::uint8_t>(4096),
                  .launch = {.grid = {100'000, 1, 1}, .block = {64, 1, 1}},
                  .options = {.jobs = jobs, .instructionBudget = 300'000}};
      trial.run();
      EXPECT_TRUE(trial.has(FindingKind::hang));
      EXPECT_TRUE(trial.has(FindingKind::outOfBounds));
      EXPECT_LT(trial.result.workgroups, 100u);
      for (const EmulatorFinding &finding : trial.result.findings) {
        EXPECT_LE(finding.workgroup[0], 3u) << trial.findings();
      }
    }
  }
}

// Threads take several workgroups at once: another one may have failed before the first that does.
TEST(Control, TheFirstFailureIsReportedWhateverTheJobs) {
  const auto trialOf = [](const std::string &first, const std::string &later, int jobs) {
    Trial trial{.text = {.body = std::string(prologue) + R"(
        s_lshl_b32 s10, s2, 8
        v_add_u32 v1, s10, v1
        v_mov_b32 v2, s2
        global_store_dword v1, v2, s[6:7]
        s_cmp_eq_u32 s2, 40
        s_cbranch_scc1 .Lfirst
        s_cmp_lt_u32 s2, 60
        s_cbranch_scc1 .Ldone
        )" + later + "\n.Lfirst:\n" +
                                 first + "\n.Ldone:"},
                .outBytes = 4 * 64 * 600,
                .launch = {.grid = {600, 1, 1}, .block = {64, 1, 1}},
                .options = {.jobs = jobs, .instructionBudget = 100'000}};
    return trial.run();
  };
  for (const int jobs : {1, 2, 3, 7}) {
    const Trial hang = trialOf(".La:\n s_branch .La", ".Lb:\n s_branch .Lb", jobs);
    ASSERT_EQ(hang.result.findings.size(), 1u) << hang.findings();
    EXPECT_EQ(hang.result.findings[0].kind, FindingKind::hang);
    EXPECT_EQ(hang.result.findings[0].workgroup[0], 40u);
    const Trial unknown =
        trialOf("v_screen_partition_4se_b32 v0, v1", "v_screen_partition_4se_b32 v1, v0", jobs);
    EXPECT_NE(unknown.error.find("at 0x40"), std::string::npos) << unknown.error;
  }
}

TEST(Control, UnknownInstructionIsNamedWithItsNeighbourhood) {
  Trial trial{.text = {.body = "s_nop 3\n v_screen_partition_4se_b32 v0, v1\n s_nop 4"}};
  trial.run();
  EXPECT_NE(trial.error.find("V_SCREEN_PARTITION_4SE_B32"), std::string::npos) << trial.error;
  EXPECT_NE(trial.error.find("s_nop 3"), std::string::npos);
  EXPECT_NE(trial.error.find("s_nop 4"), std::string::npos);
}

} // namespace
} // namespace kw::test
