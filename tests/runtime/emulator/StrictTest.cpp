// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For every kind of finding a kernel that has it and a twin that has not.
#include "Assembly.h"

#include <gtest/gtest.h>

namespace kw::test {
namespace {

struct Twin {
  const char *what;
  FindingKind kind;
  std::string broken, sound; ///< bodies behind the prologue
  unsigned waves = 1;
};

const std::string lds2 = "v_lshlrev_b32 v2, 2, v1\n";
const std::string matrixC =
    "v_mov_b32 v16, 0\n v_mov_b32 v17, 0\n v_mov_b32 v24, 0\n v_mov_b32 v25, 0\n v_mov_b32 v26, 0\n"
    "v_mov_b32 v27, 0\n s_nop 1\n";

std::vector<Twin> twins() {
  return {
      {"global store behind the end", FindingKind::outOfBounds,
       "v_mov_b32 v2, 1\n global_store_dword v1, v2, s[6:7] offset:4092",
       "v_mov_b32 v2, 1\n global_store_dword v1, v2, s[6:7] offset:3840"},
      {"load before the start", FindingKind::outOfBounds,
       "global_load_dword v2, v1, s[4:5] offset:-4", "global_load_dword v2, v1, s[4:5]"},
      {"LDS write past the allocation", FindingKind::outOfBounds, "ds_write_b32 v1, v1 offset:4096",
       "ds_write_b32 v1, v1 offset:3840"},
      {"scratch past the allocation", FindingKind::outOfBounds,
       "scratch_store_dword off, v1, off offset:64", "scratch_store_dword off, v1, off offset:60"},
      {"load to LDS past the allocation", FindingKind::outOfBounds,
       "s_movk_i32 m0, 0xf10\n s_nop 0\n global_load_lds_dword v1, s[4:5]",
       "s_movk_i32 m0, 0xf00\n s_nop 0\n global_load_lds_dword v1, s[4:5]"},

      {"vector register above the allocation", FindingKind::outOfBounds, "v_mov_b32 v128, v1",
       "v_mov_b32 v127, v1"},

      {"stored register never written", FindingKind::uninitialisedRead,
       "global_store_dword v1, v9, s[6:7]", "v_mov_b32 v9, 0\n global_store_dword v1, v9, s[6:7]"},
      {"undefined value through arithmetic", FindingKind::uninitialisedRead,
       "v_add_u32 v10, v9, v1\n v_lshl_add_u32 v10, v10, 1, v1\n global_store_dword v1, v10, "
       "s[6:7]",
       "v_and_b32 v10, v1, v1\n v_lshl_add_u32 v10, v10, 1, v1\n global_store_dword v1, v10, "
       "s[6:7]"},
      {"undefined AGPR", FindingKind::uninitialisedRead,
       "v_accvgpr_read_b32 v10, a7\n global_store_dword v1, v10, s[6:7]",
       "v_accvgpr_write_b32 a7, v1\n s_nop 1\n v_accvgpr_read_b32 v10, a7\n"
       "global_store_dword v1, v10, s[6:7]"},
      {"some lanes undefined", FindingKind::uninitialisedRead,
       "s_mov_b64 exec, 0xff\n v_mov_b32 v9, 1\n s_mov_b64 exec, -1\n global_store_dword v1, v9, "
       "s[6:7]",
       "s_mov_b64 exec, 0xff\n v_mov_b32 v9, 1\n global_store_dword v1, v9, s[6:7]"},
      {"half of an SGPR pair that op_sel picks", FindingKind::uninitialisedRead,
       "s_mov_b32 s31, 1.0\n v_mov_b32 v8, v1\n v_mov_b32 v9, v1\n"
       "v_pk_mul_f32 v[10:11], v[8:9], s[30:31] op_sel_hi:[1,0]\n"
       "global_store_dword v1, v11, s[6:7]",
       "s_mov_b32 s30, 1.0\n v_mov_b32 v8, v1\n v_mov_b32 v9, v1\n"
       "v_pk_mul_f32 v[10:11], v[8:9], s[30:31] op_sel_hi:[1,0]\n"
       "global_store_dword v1, v11, s[6:7]"},
      {"undefined SGPR as address", FindingKind::uninitialisedRead,
       "s_load_dword s10, s[20:21], 0x0", "s_load_dword s10, s[0:1], 0x0"},
      {"undefined SCC", FindingKind::uninitialisedRead,
       "s_cbranch_scc1 .Lx\n.Lx:", "s_cmp_eq_u32 s4, s5\n s_cbranch_scc1 .Lx\n.Lx:"},
      {"undefined VCC", FindingKind::uninitialisedRead,
       "s_cbranch_vccnz .Lx\n.Lx:", "s_mov_b64 vcc, 0\n s_cbranch_vccnz .Lx\n.Lx:"},
      {"undefined M0", FindingKind::uninitialisedRead, "global_load_lds_dword v1, s[4:5]",
       "s_mov_b32 m0, 0\n s_nop 0\n global_load_lds_dword v1, s[4:5]"},
      {"undefined EXEC", FindingKind::uninitialisedRead, "s_mov_b64 exec, s[30:31]",
       "s_mov_b64 exec, -1"},
      {"undefined LDS", FindingKind::uninitialisedRead,
       "ds_read_b32 v9, v1\n s_waitcnt lgkmcnt(0)\n global_store_dword v1, v9, s[6:7]",
       "ds_write_b32 v1, v1\n s_waitcnt lgkmcnt(0)\n ds_read_b32 v9, v1\n s_waitcnt lgkmcnt(0)\n"
       "global_store_dword v1, v9, s[6:7]"},
      {"output memory read before written", FindingKind::uninitialisedRead,
       "global_load_dword v9, v1, s[6:7]\n s_waitcnt vmcnt(0)\n global_store_dword v1, v9, s[6:7]",
       "global_store_dword v1, v1, s[6:7]\n s_waitcnt vmcnt(0)\n global_load_dword v9, v1, s[6:7]\n"
       "s_waitcnt vmcnt(0)\n global_store_dword v1, v9, s[6:7]"},
      {"undefined scratch", FindingKind::uninitialisedRead,
       "scratch_load_dword v9, off, off\n s_waitcnt vmcnt(0)\n global_store_dword v1, v9, s[6:7]",
       "scratch_store_dword off, v1, off\n scratch_load_dword v9, off, off\n s_waitcnt vmcnt(0)\n"
       "global_store_dword v1, v9, s[6:7]"},
      {"matrix row undefined", FindingKind::uninitialisedRead,
       "s_mov_b64 exec, 0xffff\n v_mov_b32 v16, 0\n s_mov_b64 exec, -1\n v_mov_b32 v17, 0\n"
       "v_mov_b32 v20, 0\n v_mov_b32 v21, 0\n s_nop 1\n"
       "v_mfma_f32_16x16x16_f16 v[24:27], v[16:17], v[20:21], 0\n s_nop 15\n"
       "global_store_dword v1, v24, s[6:7]",
       "v_mov_b32 v16, 0\n v_mov_b32 v17, 0\n v_mov_b32 v20, 0\n v_mov_b32 v21, 0\n s_nop 1\n"
       "v_mfma_f32_16x16x16_f16 v[24:27], v[16:17], v[20:21], 0\n s_nop 15\n"
       "global_store_dword v1, v24, s[6:7]"},

      {"LDS read without a barrier", FindingKind::ldsRace,
       "ds_write_b32 v1, v1\n s_waitcnt lgkmcnt(0)\n v_xor_b32 v2, 0x100, v1\n ds_read_b32 v3, v2",
       "ds_write_b32 v1, v1\n s_waitcnt lgkmcnt(0)\n s_barrier\n v_xor_b32 v2, 0x100, v1\n"
       "ds_read_b32 v3, v2",
       2},
      {"LDS overwritten while others read", FindingKind::ldsRace,
       "ds_write_b32 v1, v1\n s_waitcnt lgkmcnt(0)\n s_barrier\n v_xor_b32 v2, 0x100, v1\n"
       "ds_read_b32 v3, v2\n s_waitcnt lgkmcnt(0)\n ds_write_b32 v1, v2",
       "ds_write_b32 v1, v1\n s_waitcnt lgkmcnt(0)\n s_barrier\n v_xor_b32 v2, 0x100, v1\n"
       "ds_read_b32 v3, v2\n s_waitcnt lgkmcnt(0)\n s_barrier\n ds_write_b32 v1, v2",
       2},
      {"bytes of LDS overwritten while others read the dword", FindingKind::ldsRace,
       "ds_write_b32 v1, v1\n s_waitcnt lgkmcnt(0)\n s_barrier\n v_xor_b32 v2, 0x100, v1\n"
       "ds_read_b32 v3, v2\n s_waitcnt lgkmcnt(0)\n v_xor_b32 v4, -1, v1\n ds_write_b8 v1, v4",
       "ds_write_b32 v1, v1\n s_waitcnt lgkmcnt(0)\n s_barrier\n v_xor_b32 v2, 0x100, v1\n"
       "ds_read_b32 v3, v2\n s_waitcnt lgkmcnt(0)\n s_barrier\n v_xor_b32 v4, -1, v1\n"
       "ds_write_b8 v1, v4",
       2},
      {"a byte read that another wave has just written", FindingKind::ldsRace,
       "v_lshrrev_b32 v2, 2, v1\n ds_write_b8 v2, v1\n s_waitcnt lgkmcnt(0)\n"
       "v_xor_b32 v2, 64, v2\n ds_read_u8 v3, v2",
       "v_lshrrev_b32 v2, 2, v1\n ds_write_b8 v2, v1\n s_waitcnt lgkmcnt(0)\n s_barrier\n"
       "v_xor_b32 v2, 64, v2\n ds_read_u8 v3, v2",
       2},
      {"halves of a dword by two waves", FindingKind::ldsRace,
       "v_and_b32 v2, 0xfc, v1\n v_lshrrev_b32 v3, 8, v1\n v_lshl_add_u32 v4, v3, 1, v2\n"
       "ds_write_b16 v4, v1\n s_waitcnt lgkmcnt(0)\n ds_read_b32 v5, v2",
       "v_and_b32 v2, 0xfc, v1\n v_lshrrev_b32 v3, 8, v1\n v_lshl_add_u32 v4, v3, 1, v2\n"
       "ds_write_b16 v4, v1\n s_waitcnt lgkmcnt(0)\n ds_read_u16 v5, v4",
       2},
      {"LDS read in flight over the barrier", FindingKind::ldsRace,
       "ds_write_b32 v1, v1\n s_waitcnt lgkmcnt(0)\n s_barrier\n v_xor_b32 v2, 0x100, v1\n"
       "ds_read_b32 v3, v2\n s_barrier\n ds_write_b32 v1, v2",
       "ds_write_b32 v1, v1\n s_waitcnt lgkmcnt(0)\n s_barrier\n v_xor_b32 v2, 0x100, v1\n"
       "ds_read_b32 v3, v2\n s_waitcnt lgkmcnt(0)\n s_barrier\n ds_write_b32 v1, v2",
       2},

      {"load used before its wait", FindingKind::missingWait,
       "global_load_dword v2, v1, s[4:5]\n v_add_u32 v3, v2, v2",
       "global_load_dword v2, v1, s[4:5]\n s_waitcnt vmcnt(0)\n v_add_u32 v3, v2, v2"},
      {"counted wait too loose", FindingKind::missingWait,
       "global_load_dword v2, v1, s[4:5]\n global_load_dword v3, v1, s[4:5]\n s_waitcnt vmcnt(1)\n"
       "v_add_u32 v4, v3, v3",
       "global_load_dword v2, v1, s[4:5]\n global_load_dword v3, v1, s[4:5]\n s_waitcnt vmcnt(1)\n"
       "v_add_u32 v4, v2, v2"},
      {"scalar load is not in order", FindingKind::missingWait,
       "s_load_dword s20, s[0:1], 0x0\n s_load_dword s21, s[0:1], 0x4\n s_waitcnt lgkmcnt(1)\n"
       "s_add_u32 s22, s20, s20",
       "s_load_dword s20, s[0:1], 0x0\n s_load_dword s21, s[0:1], 0x4\n s_waitcnt lgkmcnt(0)\n"
       "s_add_u32 s22, s20, s20"},
      {"register overwritten while a load is coming", FindingKind::missingWait,
       "global_load_dword v2, v1, s[4:5]\n v_mov_b32 v2, 0",
       "global_load_dword v2, v1, s[4:5]\n s_waitcnt vmcnt(0)\n v_mov_b32 v2, 0"},
      {"LDS write not waited for before the barrier", FindingKind::missingWait,
       "ds_write_b32 v1, v1\n s_barrier\n v_xor_b32 v2, 0x100, v1\n ds_read_b32 v3, v2",
       "ds_write_b32 v1, v1\n s_waitcnt lgkmcnt(0)\n s_barrier\n v_xor_b32 v2, 0x100, v1\n"
       "ds_read_b32 v3, v2",
       2},
      {"load to LDS not waited for", FindingKind::missingWait,
       "s_mov_b32 m0, 0\n s_nop 0\n global_load_lds_dword v1, s[4:5]\n ds_read_b32 v3, v1",
       "s_mov_b32 m0, 0\n s_nop 0\n global_load_lds_dword v1, s[4:5]\n s_waitcnt vmcnt(0)\n"
       "ds_read_b32 v3, v1"},
      {"load to LDS of another wave: wait, but after the barrier", FindingKind::ldsRace,
       "v_readfirstlane_b32 s20, v1\n s_mov_b32 m0, s20\n s_nop 0\n"
       "global_load_lds_dword v1, s[4:5]\n s_barrier\n s_waitcnt vmcnt(0)\n v_xor_b32 v2, 0x100, "
       "v1\n"
       "ds_read_b32 v3, v2",
       "v_readfirstlane_b32 s20, v1\n s_mov_b32 m0, s20\n s_nop 0\n"
       "global_load_lds_dword v1, s[4:5]\n s_waitcnt vmcnt(0)\n s_barrier\n v_xor_b32 v2, 0x100, "
       "v1\n"
       "ds_read_b32 v3, v2",
       2},

      {"matrix result read too early", FindingKind::missingWaitStates,
       "v_mov_b32 v16, 0\n v_mov_b32 v17, 0\n s_nop 1\n"
       "v_mfma_f32_16x16x16_f16 v[24:27], v[16:17], v[16:17], 0\n s_nop 6\n v_add_f32 v2, v24, v24",
       "v_mov_b32 v16, 0\n v_mov_b32 v17, 0\n s_nop 1\n"
       "v_mfma_f32_16x16x16_f16 v[24:27], v[16:17], v[16:17], 0\n s_nop 7\n v_add_f32 v2, v24, "
       "v24"},
      {"matrix operand written just before", FindingKind::missingWaitStates,
       "v_mov_b32 v16, 0\n v_mov_b32 v17, 0\n s_nop 0\n"
       "v_mfma_f32_16x16x16_f16 v[24:27], v[16:17], v[16:17], 0",
       "v_mov_b32 v16, 0\n v_mov_b32 v17, 0\n s_nop 1\n"
       "v_mfma_f32_16x16x16_f16 v[24:27], v[16:17], v[16:17], 0"},
      {"matrix operand C overwritten (of XDL instructions, not of those of f32)",
       FindingKind::missingWaitStates,
       matrixC + "v_mfma_f32_16x16x16_f16 v[28:31], v[16:17], v[16:17], v[24:27]\n s_nop 1\n"
                 "v_mov_b32 v24, 0",
       matrixC + "v_mfma_f32_16x16x16_f16 v[28:31], v[16:17], v[16:17], v[24:27]\n s_nop 2\n"
                 "v_mov_b32 v24, 0\n s_nop 1\n"
                 "v_mfma_f32_16x16x4_f32 v[32:35], v16, v17, v[24:27]\n v_mov_b32 v25, 0"},
      {"DPP of a fresh register", FindingKind::missingWaitStates,
       "v_mov_b32 v16, 0\n s_nop 0\n v_mov_b32_dpp v2, v16 row_shr:1 row_mask:0xf bank_mask:0xf",
       "v_mov_b32 v16, 0\n s_nop 1\n v_mov_b32_dpp v2, v16 row_shr:1 row_mask:0xf bank_mask:0xf"},
      {"permlane swap of a fresh register", FindingKind::missingWaitStates,
       "v_mov_b32 v16, 0\n v_mov_b32 v17, 0\n v_permlane32_swap_b32 v16, v17",
       "v_mov_b32 v16, 0\n v_mov_b32 v17, 0\n s_nop 1\n v_permlane32_swap_b32 v16, v17"},
      {"readfirstlane of a fresh register", FindingKind::missingWaitStates,
       "v_mov_b32 v16, 0\n v_readfirstlane_b32 s20, v16",
       "v_mov_b32 v16, 0\n s_nop 0\n v_readfirstlane_b32 s20, v16"},
      {"transcendental", FindingKind::missingWaitStates,
       "v_exp_f32 v16, v1\n v_add_f32 v2, v16, v16",
       "v_exp_f32 v16, v1\n s_nop 0\n v_add_f32 v2, v16, v16"},
      {"mask of a comparison", FindingKind::missingWaitStates,
       "v_cmp_gt_u32 vcc, v1, v1\n s_nop 0\n v_cndmask_b32 v2, 0, v1, vcc",
       "v_cmp_gt_u32 vcc, v1, v1\n s_nop 1\n v_cndmask_b32 v2, 0, v1, vcc"},
      {"scalar base from a vector instruction", FindingKind::missingWaitStates,
       "v_mov_b32 v16, 0\n s_nop 0\n v_readfirstlane_b32 s20, v16\n s_mov_b64 s[22:23], s[6:7]\n"
       "v_readfirstlane_b32 s22, v16\n s_nop 3\n s_mov_b32 s23, s7\n"
       "global_load_dword v2, v1, s[4:5]\n v_readfirstlane_b32 s4, v16\n"
       "global_load_dword v3, v1, s[4:5]",
       "global_load_dword v2, v1, s[4:5]\n global_load_dword v3, v1, s[4:5]"},

      {"misaligned LDS access", FindingKind::misaligned, "ds_write_b32 v1, v1 offset:2",
       "ds_write_b32 v1, v1 offset:4"},
      {"wave ends before the barrier", FindingKind::barrierDivergence,
       "v_readfirstlane_b32 s20, v1\n s_cmp_eq_u32 s20, 0\n s_cbranch_scc1 .Lx\n s_barrier\n.Lx:",
       "v_readfirstlane_b32 s20, v1\n s_cmp_eq_u32 s20, 0\n s_cbranch_scc1 .Lx\n s_nop 0\n.Lx:\n "
       "s_barrier",
       2},
      {"endless loop", FindingKind::hang, ".Lx:\n s_branch .Lx", "s_branch .Lx\n.Lx:"},
      {"matrix instruction with lanes off", FindingKind::partialExec,
       "v_mov_b32 v16, 0\n v_mov_b32 v17, 0\n s_mov_b64 exec, 1\n s_nop 1\n"
       "v_mfma_f32_16x16x16_f16 v[24:27], v[16:17], v[16:17], 0",
       "v_mov_b32 v16, 0\n v_mov_b32 v17, 0\n s_mov_b64 exec, -1\n s_nop 1\n"
       "v_mfma_f32_16x16x16_f16 v[24:27], v[16:17], v[16:17], 0"},
      {"trap", FindingKind::trap, "s_trap 2", "s_nop 2"},
  };
}

Trial trialOf(const std::string &body, unsigned waves) {
  Trial trial{.text = {.body = prologue + body, .ldsBytes = 4096, .scratchBytes = 64},
              .in = std::vector<std::uint8_t>(4096, 1)};
  trial.text.vgprs = body.find("v127") != body.npos || body.find("v128") != body.npos ? 128 : 256;
  trial.launch.block = {64 * waves, 1, 1};
  trial.options.instructionBudget = 10000;
  trial.run();
  EXPECT_EQ(trial.error, "") << body;
  return trial;
}

TEST(Strict, EveryKindOfFindingHasACaseAndATwinWithout) {
  for (const Twin &twin : twins()) {
    const Trial broken = trialOf(twin.broken, twin.waves);
    EXPECT_TRUE(broken.has(twin.kind)) << twin.what << ": " << broken.findings();
    const Trial sound = trialOf(twin.sound, twin.waves);
    EXPECT_TRUE(sound.result.clean()) << twin.what << ": " << sound.findings();
  }
}

TEST(Strict, FindingsSayWhereAndWho) {
  const Trial trial = trialOf("global_load_dword v2, v1, s[4:5]\n v_add_u32 v3, v2, v2", 1);
  ASSERT_EQ(trial.result.findings.size(), 1u) << trial.findings();
  const EmulatorFinding &finding = trial.result.findings[0];
  EXPECT_EQ(finding.kernel, "k");
  EXPECT_EQ(finding.instruction, "v_add_u32_e32 v3, v2, v2");
  EXPECT_NE(finding.detail.find("global_load_dword"), std::string::npos) << finding.detail;
  EXPECT_NE(finding.detail.find("vmcnt"), std::string::npos);
}

TEST(Strict, WithoutItOnlyWhatTouchesForeignMemoryIsReported) {
  Trial trial{.text = {.body = prologue + std::string("v_add_u32 v3, v2, v2\n"
                                                      "global_store_dword v1, v3, s[6:7]")}};
  trial.options.strict = false;
  trial.run();
  EXPECT_EQ(trial.findings(), "");
}

TEST(Strict, EncodingsThatMeanNothingAreErrors) {
  for (const char *body :
       {"v_cvt_pk_bf16_f32 v2, v1, v1 clamp", "v_cvt_pk_bf16_f32 v2, v1, v1 mul:2",
        // More blocks than there are share an A; formats that do not exist.
        "v_mfma_f32_32x32x1_2b_f32 v[64:95], v16, v17, v[64:95] cbsz:2",
        "v_mfma_f32_16x16x1_4b_f32 v[64:79], v16, v17, v[64:79] cbsz:3",
        "v_mfma_f32_4x4x4_16b_f16 v[64:67], v[16:17], v[18:19], v[64:67] cbsz:5",
        "v_mfma_f32_16x16x128_f8f6f4 v[64:67], v[16:23], v[32:39], v[64:67] cbsz:5",
        "v_mfma_f32_16x16x128_f8f6f4 v[64:67], v[16:23], v[32:39], v[64:67] blgp:7"}) {
    Trial trial{.text = {.body = prologue + std::string(body)}};
    trial.run();
    EXPECT_NE(trial.error.find("invalid encoding"), std::string::npos) << body << trial.error;
  }
}

// Values that LLVM leaves undefined on purpose.
TEST(Strict, UndefinedValuesThatNothingDependsOnAreFine) {
  for (const char *body : {
           "v_mov_b32 v3, v9\n v_add_u32 v4, v3, v9",
           "v_mov_b32 v8, v1\n v_mad_u64_u32 v[12:13], s[20:21], v1, v1, v[8:9]\n"
           "global_store_dword v1, v12, s[6:7]",
           "v_cmp_gt_u32 vcc, 16, v1\n s_nop 1\n v_cndmask_b32_e64 v3, v1, v1, vcc\n"
           "global_store_dword v1, v3, s[6:7]",
           "v_mov_b32 v8, v1\n v_pk_mul_f32 v[12:13], v[8:9], v[8:9]\n"
           "global_store_dword v1, v12, s[6:7]",
           "s_mov_b32 s20, 0\n s_and_b32 s21, s20, s30\n s_cmp_eq_u32 s21, 0\n s_cbranch_scc1 "
           ".Lx\n.Lx:",
       }) {
    const Trial trial = trialOf(body, 1);
    EXPECT_EQ(trial.findings(), "") << body;
  }
}

} // namespace
} // namespace kw::test
