// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The validator on attention: right results in several orders pass, each kind of flaw fails.
#include "tests/runtime/MockAttentionDevice.h"

#include "runtime/Validator.h"

#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::HasSubstr;

Validation proven(MockAttentionDevice &device, const std::string &text, int splits,
                  std::uint64_t seed = 0) {
  const auto problem = parseProblem("attention " + text);
  EXPECT_TRUE(problem) << (problem ? "" : problem.error().message);
  AttentionSchedule schedule;
  schedule.split.kv = splits;
  CodeObject object;
  object.manifest = makeManifest(*problem, schedule, **findTarget("gfx950"), "mock.hsaco");
  ValidateOptions options;
  options.seed = seed;
  const auto validation = validate(object, **findTarget("gfx950"), device, options);
  EXPECT_TRUE(validation) << (validation ? "" : validation.error().message);
  return validation.value_or(Validation());
}

/// Decode and a few queries, GQA and none, masks, both layouts, short and long.
constexpr std::array problems{
    "b=2 hq=8 hkv=2 sq=1 skv=300 d=64 dtype=bf16 lse=1",
    "b=1 hq=6 hkv=2 sq=3 skv=261 d=128 dtype=f16 mask=causal lse=1",
    "b=3 hq=4 hkv=4 sq=5 skv=333 d=64 dtype=bf16 mask=causal layout=bshd",
    "b=1 hq=16 hkv=1 sq=8 skv=200 d=64 dtype=f16 layout=bshd lse=1",
    "b=1 hq=2 hkv=1 sq=7 skv=4 d=64 dtype=bf16 mask=causal lse=1",
};

TEST(AttentionValidator, AcceptsRightResults) {
  for (const char *problem : problems) {
    for (const int splits : {1, 3}) {
      for (const bool reversed : {false, true}) {
        MockAttentionDevice device;
        device.reversed = reversed;
        device.step = splits == 1 ? 16 : 64;
        const Validation validation = proven(device, problem, splits, 7);
        EXPECT_TRUE(validation.ok)
            << problem << " splits " << splits << ": " << validation.findings.front().detail;
        EXPECT_EQ(validation.checked, validation.total);
        EXPECT_LE(validation.maxRel, validation.tolerance) << problem;
        EXPECT_GT(validation.maxRel, 0);
      }
    }
  }
}

struct Flaw {
  const char *name;
  std::function<void(MockAttentionDevice &)> build;
  const char *problem = "b=2 hq=8 hkv=2 sq=3 skv=500 d=64 dtype=bf16 mask=causal";
};

const std::vector<Flaw> &flaws() {
  static const std::vector<Flaw> all{
      {"a column too many", [](auto &d) { d.hiddenShift = 1; }},
      {"a column too few", [](auto &d) { d.hiddenShift = -1; }},
      {"no mask: the last column", [](auto &d) { d.hiddenShift = -1; },
       "b=1 hq=1 hkv=1 sq=1 skv=8192 d=128 dtype=bf16"},
      {"top left", [](auto &d) { d.topLeft = true; }},
      {"a dropped split", [](auto &d) { d.droppedSplit = 2; }},
      {"a dropped split of a long sequence", [](auto &d) { d.droppedSplit = 1; },
       "b=1 hq=4 hkv=1 sq=1 skv=6000 d=64 dtype=f16"},
      {"another query head", [](auto &d) { d.swappedHeads = true; }},
      {"another head of k and v", [](auto &d) { d.headsModulo = true; }},
      {"no rescaling", [](auto &d) { d.noRescale = true; }},
      {"no scale", [](auto &d) { d.noScale = true; }},
      {"splits added without their maxima", [](auto &d) { d.combineForgetsMaximum = true; }},
      {"two columns of v exchanged", [](auto &d) { d.swappedColumns = 77; }},
      {"lse to base 2", [](auto &d) { d.lseOfTwo = true; },
       "b=1 hq=1 hkv=1 sq=1 skv=40 d=64 dtype=bf16 lse=1"},
      {"empty rows", [](auto &d) { d.nanInEmptyRows = true; },
       "b=1 hq=2 hkv=1 sq=5 skv=3 d=64 dtype=bf16 mask=causal"},
      {"an unwritten row", [](auto &d) { d.unwrittenRow = 1; }},
  };
  return all;
}

/// Each flaw is found with any seed.
TEST(AttentionValidator, RejectsEveryFlaw) {
  for (const Flaw &flaw : flaws()) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      MockAttentionDevice device;
      flaw.build(device);
      EXPECT_FALSE(proven(device, flaw.problem, 4, seed).ok) << flaw.name << ", seed " << seed;
    }
  }
}

TEST(AttentionValidator, NamesTheElement) {
  MockAttentionDevice device;
  device.unwrittenRow = 1;
  const Validation validation = proven(device, "b=1 hq=2 hkv=1 sq=3 skv=40 d=64 dtype=bf16", 1);
  ASSERT_FALSE(validation.ok);
  EXPECT_THAT(validation.findings.front().detail, HasSubstr("o[0, 1, 0] was not written"));
}

/// A sample runs all splits of its tiles and just the rows of the second launch that they fill.
TEST(AttentionValidator, SamplesWholeTiles) {
  for (const char *heads : {"hq=24 hkv=24", "hq=40 hkv=8"}) {
    MockAttentionDevice device;
    device.step = 256;
    const Validation validation =
        proven(device, fmt::format("b=64 {} sq=1 skv=1500 d=64 dtype=bf16 lse=1", heads), 4);
    EXPECT_TRUE(validation.ok) << heads << ": " << validation.findings.front().detail;
    EXPECT_LT(validation.checked, validation.total);
    ASSERT_EQ(device.runs.front().workgroups.size(), 2U);
    EXPECT_EQ(device.runs.front().workgroups[0].size() % 4, 0U);
    EXPECT_FALSE(device.runs.front().workgroups[1].empty());
  }
}

} // namespace
} // namespace kw
