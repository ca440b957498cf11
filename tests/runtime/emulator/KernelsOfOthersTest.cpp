// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What strict mode must not report, because kernels that are right on hardware do it (Triton's, and
// AMD's hand-written ones), each beside the nearest thing that it must report.
#include "Assembly.h"

#include <gtest/gtest.h>

namespace kw::test {
namespace {

Trial trialOf(const std::string &body, unsigned waves = 1) {
  Trial trial{.text = {.body = prologue + body, .ldsBytes = 4096},
              .in = std::vector<std::uint8_t>(4096, 1)};
  trial.launch.block = {64 * waves, 1, 1};
  trial.run();
  EXPECT_EQ(trial.error, "") << body;
  return trial;
}

void expectClean(const std::string &body, unsigned waves = 1) {
  const Trial trial = trialOf(body, waves);
  EXPECT_TRUE(trial.result.clean()) << body << trial.findings();
}

void expectFinding(FindingKind kind, const std::string &body, unsigned waves = 1) {
  const Trial trial = trialOf(body, waves);
  EXPECT_TRUE(trial.has(kind)) << body << trial.findings();
}

TEST(KernelsOfOthers, SetM0JustBeforeALoadToLds) {
  expectClean("s_add_u32 m0, 0, 0\n global_load_lds_dword v1, s[4:5]");
}

TEST(KernelsOfOthers, SelectByAFreshMaskInScalarRegisters) {
  expectClean("v_cmp_gt_u32 s[20:21], v1, v1\n v_cndmask_b32 v2, 0, v1, s[20:21]");
  expectFinding(FindingKind::missingWaitStates,
                "v_cmp_gt_u32 vcc, v1, v1\n v_cndmask_b32 v2, 0, v1, vcc");
  expectFinding(FindingKind::missingWaitStates,
                "v_readlane_b32 s20, v1, 0\n v_add_u32 v2, s20, v1");
}

const std::string zeroes = "v_mov_b32 v16, 0\n v_mov_b32 v17, 0\n v_mov_b32 v40, 0\n"
                           "v_mov_b32 v41, 0\n s_nop 1\n";
const std::string product = "v_mfma_f32_16x16x32_fp8_fp8 v[24:27], v[16:17], v[16:17], 0\n";
const std::string another = "v_mfma_f32_16x16x32_fp8_fp8 v[28:31], v[16:17], v[16:17], 0\n";

TEST(KernelsOfOthers, MatrixInstructionsWaitForThePipe) {
  expectClean(zeroes + product + another + another + "v_add_f32 v2, v24, v24");
  expectFinding(FindingKind::missingWaitStates,
                zeroes + product + another + "v_add_f32 v2, v24, v24");
}

TEST(KernelsOfOthers, PackedFmaReadsAMatrixResultAfterTwoStates) {
  const std::string fma = "v_pk_fma_f32 v[40:41], v[24:25], v[40:41], v[40:41]";
  expectClean(zeroes + product + "s_nop 1\n" + fma);
  expectFinding(FindingKind::missingWaitStates, zeroes + product + "s_nop 0\n" + fma);
  expectFinding(FindingKind::missingWaitStates,
                zeroes + product + "s_nop 1\n v_pk_mul_f32 v[40:41], v[24:25], v[24:25]");
}

TEST(KernelsOfOthers, ChainPermlaneSwaps) {
  const std::string swap = "s_nop 1\n v_permlane32_swap_b32 v16, v17\n";
  expectClean(zeroes + swap + "s_nop 0\n v_permlane16_swap_b32 v16, v17");
  expectFinding(FindingKind::missingWaitStates, zeroes + swap + "v_permlane16_swap_b32 v16, v17");
  expectFinding(FindingKind::missingWaitStates,
                "v_mov_b32 v17, 0\n v_mov_b32 v16, 0\n s_nop 0\n v_permlane32_swap_b32 v16, v17");
}

TEST(KernelsOfOthers, WavesWriteTheSameBytesToTheSamePlace) {
  const std::string place = "v_and_b32 v2, 0xff, v1\n"; // lane
  expectClean(place + "ds_write_b32 v2, v2", 2);
  expectFinding(FindingKind::ldsRace, place + "ds_write_b32 v2, v1\n s_waitcnt lgkmcnt(0)", 2);
}

// A wave has read, but not waited, when the other overwrites behind the barrier: by a load from
// memory, which takes longer than the LDS queue, or by a write, which may overtake.
TEST(KernelsOfOthers, ReadsOutstandingAtABarrierPrecedeLoadsToLds) {
  const std::string begin = "ds_write_b32 v1, v1\n s_waitcnt lgkmcnt(0)\n s_barrier\n"
                            "v_readfirstlane_b32 s20, v1\n v_xor_b32 v2, 0x100, v1\n"
                            "ds_read_b32 v3, v2\n s_barrier\n";
  expectClean(begin + "s_mov_b32 m0, s20\n global_load_lds_dword v1, s[4:5]\n"
                      "s_waitcnt vmcnt(0) lgkmcnt(0)",
              2);
  expectFinding(FindingKind::ldsRace,
                begin + "v_add_u32 v4, v1, v1\n ds_write_b32 v1, v4\n s_waitcnt lgkmcnt(0)", 2);
}

// Whether the range check counts the scalar offset is told both ways: outside counts as outside,
// but then nothing unmapped may lie there.
TEST(KernelsOfOthers, LeaveABufferByTheScalarOffset) {
  const std::string resource = "s_mov_b64 s[12:13], s[4:5]\n s_movk_i32 s14, 0x200\n"
                               "s_mov_b32 s15, 0x20000\n";
  const std::string load = "buffer_load_dword v3, v1, s[12:15], s20 offen\n s_waitcnt vmcnt(0)\n"
                           "global_store_dword v1, v3, s[6:7]";
  Trial inside = trialOf(resource + "s_movk_i32 s20, 0x200\n" + load);
  EXPECT_TRUE(inside.result.clean()) << inside.findings();
  EXPECT_EQ(inside.out[0], 0);
  expectFinding(FindingKind::outOfBounds, resource + "s_movk_i32 s20, 0x1000\n" + load);
  expectClean(resource + "s_mov_b32 s20, 0\n v_add_u32 v1, 0x1000, v1\n"
                         "buffer_load_dword v3, v1, s[12:15], s20 offen\n s_waitcnt vmcnt(0)");
}

TEST(KernelsOfOthers, NegateASelectedOperand) {
  const auto out = Snippet{.body = "v_cmp_gt_u32 vcc, v16, v17\n s_nop 1\n"
                                   "v_cndmask_b32_e64 v64, -v16, |v17|, vcc",
                           .inputs = {{Lanes(64, 0x40000000)}, {Lanes(64, 0xbf800000)}}}
                       .run();
  EXPECT_EQ(out[0], Lanes(64, 0xc0000000));
}

} // namespace
} // namespace kw::test
