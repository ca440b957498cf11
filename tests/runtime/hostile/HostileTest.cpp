// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A few hundred mutants of assembled kernels, without sanitizers; test_mutants.py attacks with many
// more, with them.
#include "Attack.h"
#include "tests/runtime/emulator/Assembly.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace kw::test {
namespace {

namespace fs = std::filesystem;

constexpr const char *manifest = R"({"version": 1, "code_object": "k.hsaco",
 "buffers": {"in": {"bytes": 4096, "role": "input", "init": {"random": "bytes", "seed": 1}},
             "out": {"bytes": 4096, "role": "output", "init": "poison", "save": "out.bin"}},
 "launches": [{"kernel": "k", "grid": [2, 1, 1], "block": [128, 1, 1], "dynamic_lds": 64,
               "args": [{"offset": 0, "kind": "buffer", "buffer": "in", "at": 0},
                        {"offset": 8, "kind": "buffer", "buffer": "out", "at": 0}]}]})";

Victim assembled(const std::string &body) {
  return {assemble({.body = std::string(prologue) + body, .ldsBytes = 512, .scratchBytes = 16}),
          manifest};
}

std::vector<Victim> seeds() {
  return {assembled(R"(
    global_load_dword v2, v1, s[4:5]
    s_waitcnt vmcnt(0)
    ds_write_b32 v1, v2
    s_waitcnt lgkmcnt(0)
    s_barrier
    ds_read_b32 v3, v1
    s_waitcnt lgkmcnt(0)
    v_mfma_f32_16x16x16_bf16 v[8:11], v[2:3], v[2:3], 0
    global_store_dword v1, v3, s[6:7])"),
          assembled(R"(
    s_movk_i32 s10, 100
  1: scratch_store_dword off, v1, off
    scratch_load_dword v4, off, off
    global_atomic_add v5, v1, v1, s[4:5] sc0
    s_waitcnt vmcnt(0)
    s_sub_u32 s10, s10, 1
    s_cmp_lg_u32 s10, 0
    s_cbranch_scc1 1b)")};
}

class HostileTest : public testing::Test {
protected:
  fs::path outer = fs::temp_directory_path() / fmt::format("kw-hostile-{}", getpid());
  fs::path folder = outer / "inner";
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(outer); }
};

TEST_F(HostileTest, TheSeedsRun) {
  for (const Victim &seed : seeds()) {
    const Attacked result = attack(seed, /*strict, a large budget*/ 1001, folder);
    EXPECT_EQ(result.outcome, Outcome::clean) << result.message;
    EXPECT_EQ(result.broken, "");
  }
}

TEST_F(HostileTest, MutantsAreDifferentAndTheSameEachTime) {
  const Mutator mutator(seeds());
  int same = 0;
  for (std::uint64_t number = 0; number < 50; ++number) {
    const Victim once = mutator.make(number), again = mutator.make(number),
                 next = mutator.make(number + 1);
    EXPECT_EQ(once.hsaco, again.hsaco);
    EXPECT_EQ(once.manifest, again.manifest);
    same += once.hsaco == next.hsaco && once.manifest == next.manifest;
  }
  EXPECT_LT(same, 3);
}

TEST_F(HostileTest, MutantsBreakNoPromise) {
  const Mutator mutator(seeds());
  std::array<int, outcomeNames.size()> tally{};
  for (std::uint64_t number = 0; number < 600; ++number) {
    const Attacked result = attack(mutator.make(number), number, folder);
    EXPECT_EQ(result.broken, "") << "mutant " << number;
    ++tally[static_cast<std::size_t>(result.outcome)];
  }
  for (std::size_t i = 0; i < tally.size(); ++i) {
    EXPECT_GT(tally[i], 20) << outcomeNames[i]; // each way out is taken
  }
}

} // namespace
} // namespace kw::test
