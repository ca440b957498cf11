// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races in global memory: for every rule of GlobalOrder.h a kernel that breaks it and a twin that
// keeps it.
#include "Assembly.h"

#include <cstring>
#include <gtest/gtest.h>
#include <string>

namespace kw::test {
namespace {

/// v1 = 4 * lane of the workgroup, v0 = 0; wave 0 in s20 (0 or 64 and up).
const std::string start = std::string(prologue) + R"(
  v_readfirstlane_b32 s20, v0
  v_mov_b32 v0, 0
  s_lshr_b32 s20, s20, 6
)";

Trial trialOf(const std::string &body, unsigned groups, unsigned waves = 1, int jobs = 1) {
  Trial trial{.text = {.body = start + body, .ldsBytes = 4096},
              .in = std::vector<std::uint8_t>(4096)};
  trial.launch.grid = {groups, 1, 1};
  trial.launch.block = {64 * waves, 1, 1};
  trial.options.instructionBudget = 200'000;
  trial.options.jobs = jobs;
  trial.run();
  EXPECT_EQ(trial.error, "") << body;
  return trial;
}

struct Twin {
  const char *what;
  std::string broken, sound;
  unsigned groups = 1, waves = 1;
};

/// Every workgroup stores its part to out[4096 / 2 ...], arrives, and the last one reads all parts.
/// `store`, `release`, `acquire`, `load` are the pieces under test.
std::string lastArriver(const char *store, const char *release, const char *acquire,
                        const char *load) {
  return std::string("s_lshl_b32 s21, s2, 8\n v_add_u32 v2, s21, v1\n v_mov_b32 v3, 1.0\n") +
         store + "\n" + release +
         "\n v_mov_b32 v5, 1\n global_atomic_add v6, v0, v5, s[4:5] sc0\n s_waitcnt vmcnt(0)\n" +
         acquire +
         "\n"
         // 64 lanes add 1 each: the last arriver's first lane found 64 * (groups - 1).
         "v_readfirstlane_b32 s22, v6\n s_cmp_lt_u32 s22, 192\n s_cbranch_scc1 .Ldone\n"
         "v_mov_b32 v8, 0\n v_mov_b32 v2, v1\n s_mov_b32 s23, 0\n.Lnext:\n" +
         load +
         "\n s_waitcnt vmcnt(0)\n v_add_f32 v8, v8, v9\n v_add_u32 v2, 0x100, v2\n"
         "s_add_u32 s23, s23, 1\n s_cmp_lt_u32 s23, 4\n s_cbranch_scc1 .Lnext\n"
         "global_store_dword v1, v8, s[4:5] offset:1024\n.Ldone:\n";
}

const char *const plainStore = "global_store_dword v2, v3, s[6:7]";
const char *const throughStore = "global_store_dword v2, v3, s[6:7] sc0 sc1";
const char *const plainLoad = "global_load_dword v9, v2, s[6:7]";
const char *const coherentLoad = "global_load_dword v9, v2, s[6:7] sc1";
const char *const fullRelease = "buffer_wbl2 sc1\n s_waitcnt vmcnt(0)";
const char *const inv = "buffer_inv sc1";

/// Workgroup 0 stores zeros and adds to them; the first wave of workgroup 1 waits for that, its
/// second adds to the same places at the end of a long way (`skip`: who waits; `join`: for whom).
std::string zerosThenSums(const char *skip, const char *join) {
  return std::string("v_mov_b32 v2, 0\n v_mov_b32 v3, 1.0\n v_and_b32 v4, 0xff, v1\n"
                     "s_cmp_eq_u32 s2, 0\n s_cbranch_scc0 .La\n s_cmp_eq_u32 s20, 0\n"
                     "s_cbranch_scc0 .Lfinish\n global_store_dword v4, v2, s[6:7] sc0 sc1 nt\n"
                     "s_waitcnt vmcnt(0)\n global_atomic_add_f32 v4, v3, s[6:7]\n"
                     "s_mov_b32 s24, 1\n s_store_dword s24, s[4:5], 0x0 glc\n.Lfinish:\n s_endpgm\n"
                     ".La:\n s_movk_i32 s26, 0x400\n.Lslow:\n s_sub_u32 s26, s26, 1\n"
                     "s_cmp_eq_u32 s26, 0\n s_cbranch_scc0 .Lslow\n") +
         skip +
         ".Lwait:\n s_load_dword s25, s[4:5], 0x0 glc\n s_waitcnt lgkmcnt(0)\n"
         "s_cmp_eq_u32 s25, 1\n s_cbranch_scc0 .Lwait\n.Ljoin:\n" +
         join + ".Ladd:\n global_atomic_add_f32 v4, v3, s[6:7]\n";
}

std::vector<Twin> twins() {
  return {
      {"two workgroups store different values",
       "v_mov_b32 v2, s2\n global_store_dword v1, v2, s[6:7]",
       "s_lshl_b32 s21, s2, 8\n v_add_u32 v3, s21, v1\n v_mov_b32 v2, s2\n"
       "global_store_dword v3, v2, s[6:7]",
       2},
      {"halves of a dword", "v_mov_b32 v2, s2\n global_store_short v1, v2, s[6:7]",
       "s_lshl_b32 s21, s2, 1\n v_add_u32 v3, s21, v1\n v_mov_b32 v2, s2\n"
       "global_store_short v3, v2, s[6:7]",
       2},
      {"a workgroup reads what another has stored",
       "v_mov_b32 v2, 1\n s_cmp_eq_u32 s2, 0\n s_cbranch_scc0 .La\n"
       "global_store_dword v1, v2, s[6:7]\n s_endpgm\n.La:\n global_load_dword v3, v1, s[6:7]",
       "v_mov_b32 v2, 1\n s_cmp_eq_u32 s2, 0\n s_cbranch_scc0 .La\n"
       "global_store_dword v1, v2, s[6:7]\n s_endpgm\n.La:\n"
       "global_load_dword v3, v1, s[6:7] offset:256",
       2},
      {"a workgroup overwrites what another has read",
       "v_mov_b32 v2, 1\n s_cmp_eq_u32 s2, 1\n s_cbranch_scc0 .La\n"
       "global_store_dword v1, v2, s[4:5]\n s_endpgm\n.La:\n global_load_dword v3, v1, s[4:5]",
       "v_mov_b32 v2, 1\n s_cmp_eq_u32 s2, 1\n s_cbranch_scc0 .La\n"
       "global_store_dword v1, v2, s[4:5] offset:512\n s_endpgm\n.La:\n"
       "global_load_dword v3, v1, s[4:5]",
       2},
      {"waves of a workgroup without a barrier",
       "global_store_dword v1, v1, s[6:7]\n s_waitcnt vmcnt(0)\n v_xor_b32 v2, 0x100, v1\n"
       "global_load_dword v3, v2, s[4:5]\n global_store_dword v2, v2, s[6:7] offset:4",
       "global_store_dword v1, v1, s[6:7]\n s_barrier\n v_xor_b32 v2, 0x100, v1\n"
       "global_load_dword v3, v2, s[6:7]",
       1, 2},
      {"overwritten by another wave without a barrier",
       "global_load_dword v3, v1, s[4:5]\n v_xor_b32 v2, 0x100, v1\n s_waitcnt vmcnt(0)\n"
       "global_store_dword v2, v2, s[4:5]",
       "global_load_dword v3, v1, s[4:5]\n v_xor_b32 v2, 0x100, v1\n s_waitcnt vmcnt(0)\n"
       "s_barrier\n global_store_dword v2, v2, s[4:5]",
       1, 2},
      {"atomic add against a store",
       "v_mov_b32 v2, 1\n s_cmp_eq_u32 s2, 0\n s_cbranch_scc0 .La\n"
       "global_store_dword v1, v2, s[4:5]\n s_endpgm\n.La:\n global_atomic_add v1, v2, s[4:5]",
       "v_mov_b32 v2, 1\n global_atomic_add v1, v2, s[4:5]", 2},
      {"float sums that may come before the zeros, over other sums",
       zerosThenSums("s_cmp_eq_u32 s20, 0\n s_cbranch_scc0 .Ladd\n", ""),
       zerosThenSums("s_cmp_eq_u32 s20, 0\n s_cbranch_scc0 .Ljoin\n", "s_barrier\n"), 2, 2},
      {"last arriver: no writeback", lastArriver(plainStore, "s_waitcnt vmcnt(0)", inv, plainLoad),
       lastArriver(plainStore, fullRelease, inv, plainLoad), 4},
      {"last arriver: writeback not waited for",
       lastArriver(plainStore, "buffer_wbl2 sc1", inv, plainLoad),
       lastArriver(plainStore, fullRelease, inv, plainLoad), 4},
      {"last arriver: store through, not waited for", lastArriver(throughStore, "", inv, plainLoad),
       lastArriver(throughStore, "s_waitcnt vmcnt(0)", inv, plainLoad), 4},
      {"last arriver: caches not cleared", lastArriver(plainStore, fullRelease, "", plainLoad),
       lastArriver(plainStore, fullRelease, "", coherentLoad), 4},
      {"last arriver: what is on its way at the release was issued before the wait",
       lastArriver(throughStore, "global_load_dword v7, v1, s[4:5] offset:2048", inv, plainLoad),
       lastArriver(throughStore,
                   "s_waitcnt vmcnt(0)\n global_load_dword v7, v1, s[4:5] offset:2048", inv,
                   plainLoad),
       4},
      {"last arriver: a wait that leaves later loads on their way",
       lastArriver(throughStore,
                   "global_load_dword v7, v1, s[6:7] offset:2048\n s_waitcnt vmcnt(2)", inv,
                   plainLoad),
       lastArriver(throughStore,
                   "global_load_dword v7, v1, s[6:7] offset:2048\n s_waitcnt vmcnt(1)", inv,
                   plainLoad),
       4},
      {"scalar semaphore: store not waited for before it",
       "s_cmp_eq_u32 s2, 0\n s_cbranch_scc0 .La\n v_mov_b32 v2, 1\n"
       "global_store_dword v1, v2, s[6:7] sc0 sc1\n s_mov_b32 s24, 1\n"
       "s_store_dword s24, s[4:5], 0x0 glc\n s_endpgm\n.La:\n s_load_dword s25, s[4:5], 0x0 glc\n"
       "s_waitcnt lgkmcnt(0)\n s_cmp_eq_u32 s25, 1\n s_cbranch_scc0 .La\n buffer_inv sc1\n"
       "global_load_dword v3, v1, s[6:7]",
       "s_cmp_eq_u32 s2, 0\n s_cbranch_scc0 .La\n v_mov_b32 v2, 1\n"
       "global_store_dword v1, v2, s[6:7] sc0 sc1\n s_mov_b32 s24, 1\n s_waitcnt vmcnt(0)\n"
       "s_store_dword s24, s[4:5], 0x0 glc\n s_endpgm\n.La:\n s_load_dword s25, s[4:5], 0x0 glc\n"
       "s_waitcnt lgkmcnt(0)\n s_cmp_eq_u32 s25, 1\n s_cbranch_scc0 .La\n buffer_inv sc1\n"
       "global_load_dword v3, v1, s[6:7]",
       2},
      {"release by a wave for all: no barrier before it",
       "v_mov_b32 v2, 1\n s_cmp_eq_u32 s2, 0\n s_cbranch_scc0 .La\n"
       "global_store_dword v1, v2, s[6:7]\n s_cmp_eq_u32 s20, 0\n s_cbranch_scc0 .Le\n"
       "buffer_wbl2 sc1\n s_waitcnt vmcnt(0)\n global_atomic_add v0, v2, s[4:5]\n.Le:\n"
       "s_endpgm\n.La:\n global_load_dword v3, v0, s[4:5] sc1\n s_waitcnt vmcnt(0)\n"
       "v_readfirstlane_b32 s25, v3\n s_cmp_eq_u32 s25, 64\n s_cbranch_scc0 .La\n buffer_inv sc1\n"
       "global_load_dword v3, v1, s[6:7]",
       "v_mov_b32 v2, 1\n s_cmp_eq_u32 s2, 0\n s_cbranch_scc0 .La\n"
       "global_store_dword v1, v2, s[6:7]\n s_barrier\n s_cmp_eq_u32 s20, 0\n s_cbranch_scc0 .Le\n"
       "buffer_wbl2 sc1\n s_waitcnt vmcnt(0)\n global_atomic_add v0, v2, s[4:5]\n.Le:\n"
       "s_endpgm\n.La:\n global_load_dword v3, v0, s[4:5] sc1\n s_waitcnt vmcnt(0)\n"
       "v_readfirstlane_b32 s25, v3\n s_cmp_eq_u32 s25, 64\n s_cbranch_scc0 .La\n buffer_inv sc1\n"
       "global_load_dword v3, v1, s[6:7]",
       2, 2},
  };
}

TEST(GlobalRace, EveryRuleHasACaseAndATwinWithout) {
  for (const Twin &twin : twins()) {
    const Trial broken = trialOf(twin.broken, twin.groups, twin.waves);
    EXPECT_TRUE(broken.has(FindingKind::globalRace)) << twin.what << ": " << broken.findings();
    const Trial sound = trialOf(twin.sound, twin.groups, twin.waves);
    EXPECT_TRUE(sound.result.clean()) << twin.what << ": " << sound.findings();
  }
}

TEST(GlobalRace, IsFoundWithSeveralThreadsToo) {
  const std::string body = "v_mov_b32 v2, s2\n global_store_dword v1, v2, s[6:7]";
  for (int jobs : {2, 4}) {
    EXPECT_TRUE(trialOf(body, 16, 1, jobs).has(FindingKind::globalRace));
  }
}

// The last two of many workgroups that also use atomics.
TEST(GlobalRace, IsFoundLateInLargeLaunches) {
  const Trial trial = trialOf("v_mov_b32 v2, 1\n global_atomic_add v0, v2, s[4:5]\n"
                              "v_mov_b32 v2, s2\n s_cmp_lt_u32 s2, 598\n s_cbranch_scc1 .Lx\n"
                              "global_store_dword v1, v2, s[6:7]\n.Lx:\n",
                              600);
  EXPECT_TRUE(trial.has(FindingKind::globalRace)) << trial.findings();
}

TEST(GlobalRace, NamesBothSides) {
  const Trial trial = trialOf("v_mov_b32 v2, s2\n global_store_dword v1, v2, s[6:7]", 2);
  ASSERT_EQ(trial.result.findings.size(), 1u) << trial.findings();
  const EmulatorFinding &finding = trial.result.findings[0];
  EXPECT_EQ(finding.workgroup[0], 1u);
  EXPECT_EQ(finding.lane, 0);
  for (const char *part :
       {"workgroup (0, 0, 0)", "wave 0", "lane 0", "global_store_dword", "offset 0"}) {
    EXPECT_NE(finding.detail.find(part), std::string::npos) << finding.detail;
  }
}

// What compilers and others do on purpose.
TEST(GlobalRace, HabitsThatAreFine) {
  for (const char *body : {
           // The same value from everywhere.
           "v_mov_b32 v2, 7\n global_store_dword v1, v2, s[6:7]",
           // A plain load as the first guess of a compare-and-swap loop.
           "global_load_dword v3, v1, s[4:5]\n s_waitcnt vmcnt(0)\n.Lx:\n v_add_u32 v2, 1, v3\n"
           "global_atomic_cmpswap v4, v1, v[2:3], s[4:5] sc0\n s_waitcnt vmcnt(0)\n"
           "v_cmp_eq_u32 vcc, v3, v4\n v_mov_b32 v3, v4\n s_cbranch_vccz .Lx",
           // Relaxed sums that nobody reads.
           "v_mov_b32 v2, 1.0\n global_atomic_add_f32 v1, v2, s[4:5]",
       }) {
    const Trial trial = trialOf(body, 8, 2);
    EXPECT_EQ(trial.findings(), "") << body;
  }
}

// Nobody ever sets what all wait for.
TEST(GlobalRace, WorkgroupsThatWaitForeverAreAHang) {
  Trial trial{.text = {.body = start + ".Lx:\n s_load_dword s25, s[4:5], 0x0 glc\n"
                                       "s_waitcnt lgkmcnt(0)\n s_cmp_eq_u32 s25, 9\n"
                                       "s_cbranch_scc0 .Lx\n s_mov_b32 s24, 1\n"
                                       "s_store_dword s24, s[4:5], 0x4"},
              .in = std::vector<std::uint8_t>(4096)};
  trial.launch.grid = {80, 1, 1};
  trial.options.strict = false;
  trial.run();
  EXPECT_TRUE(trial.has(FindingKind::hang)) << trial.error << trial.findings();
}

TEST(GlobalRace, AStoredGuessIsNone) {
  // Reads what others change by atomics and does nothing atomic with it.
  const Trial trial = trialOf("s_cmp_eq_u32 s2, 0\n v_mov_b32 v2, 1.0\n s_cbranch_scc0 .La\n"
                              "global_atomic_add_f32 v1, v2, s[4:5]\n s_endpgm\n.La:\n"
                              "global_load_dword v3, v1, s[4:5]\n s_waitcnt vmcnt(0)",
                              2);
  EXPECT_TRUE(trial.has(FindingKind::globalRace)) << trial.findings();
}

} // namespace
} // namespace kw::test
