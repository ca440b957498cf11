// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Rule.h"

#include <algorithm>
#include <array>
#include <gmock/gmock.h>
#include <random>
#include <set>

namespace kw {
namespace {

using testing::HasSubstr;

constexpr ScheduleKind kind(Family::gemm, Generator::triton);
const Target &gfx950() { return **findTarget("gfx950"); }

std::string firstViolation(std::string_view problem, std::string_view schedule) {
  const auto violations = checkLegal(*parseProblem(problem), *parseSchedule(schedule), gfx950());
  return violations.empty()
             ? ""
             : std::string(violations.front().rule) + ": " + violations.front().message;
}

constexpr std::string_view square = "gemm m=4096 n=4096 k=4096 b=nk";

TEST(TritonGemmRules, WhatInductorTriesIsLegal) {
  // Rows of its list for ROCm. [inductor.md 3]
  for (const char *row : {"BLOCK_M=16,BLOCK_N=16,BLOCK_K=256,GROUP_M=4,waves_per_eu=2",
                          "BLOCK_M=64,BLOCK_N=64,BLOCK_K=64,GROUP_M=4",
                          "BLOCK_M=128,BLOCK_N=128,BLOCK_K=64,GROUP_M=16,num_warps=8",
                          "BLOCK_M=256,BLOCK_N=128,BLOCK_K=64,GROUP_M=4,num_warps=8",
                          "BLOCK_M=256,BLOCK_N=256,BLOCK_K=64,GROUP_M=4,num_warps=8"}) {
    EXPECT_EQ(firstViolation(square, std::string("triton.gemm.1:") + row), "") << row;
  }
}

TEST(TritonGemmRules, EachRefusesByName) {
  const auto refused = [](std::string_view keys) {
    return firstViolation(square, "triton.gemm.1:" + std::string(keys));
  };
  EXPECT_THAT(refused("BLOCK_M=96"), HasSubstr("blockM: a block of 96"));
  EXPECT_THAT(refused("BLOCK_N=8"), HasSubstr("blockN: a block of 8"));
  EXPECT_THAT(refused("BLOCK_K=48"), HasSubstr("blockK: a block of 48"));
  EXPECT_THAT(refused("num_warps=3"), HasSubstr("numWarps: num_warps=3"));
  EXPECT_THAT(refused("num_warps=32"), HasSubstr("numWarps: num_warps=32"));
  EXPECT_THAT(refused("kpack=2"), HasSubstr("kpack: kpack=2"));
  EXPECT_THAT(refused("matrix_instr_nonkdim=32,BLOCK_M=16"), HasSubstr("nonKDim"));
  EXPECT_THAT(refused("BLOCK_M=256,BLOCK_N=128,num_stages=4,num_warps=8"),
              HasSubstr("lds: 199648"));
  EXPECT_THAT(refused("BLOCK_M=256,BLOCK_N=256,BLOCK_K=32,num_warps=1"), HasSubstr("registers: "));
  EXPECT_THAT(firstViolation("gemm m=100 n=4096 k=4096", "triton.gemm.1:BLOCK_M=256"),
              HasSubstr("usefulBlockM"));
  EXPECT_THAT(firstViolation("gemm m=16 n=16 k=4096", "triton.gemm.1:"), HasSubstr("decomposeK"));
  EXPECT_THAT(firstViolation("gemm m=16 n=16 k=64 dtype=fp8", "triton.gemm.1:"),
              HasSubstr("template: no mm"));
}

TEST(TritonGemmRules, LegalWithSaysWhatIsLegal) {
  const std::string text =
      firstViolation(square, "triton.gemm.1:BLOCK_M=256,BLOCK_N=256,BLOCK_K=128,num_warps=8");
  EXPECT_THAT(text, HasSubstr("legal with"));
}

// What RuleTest.cpp asks of our own rules.

Schedule anySchedule(std::mt19937_64 &random) {
  Schedule schedule = defaultSchedule(kind);
  for (const Decision &decision : decisions(kind)) {
    if (random() % 2 == 0) {
      decision.set(schedule,
                   std::clamp(std::int64_t(1) << random() % 10, decision.lowest, decision.highest));
    }
  }
  return schedule;
}

TEST(TritonGemmRules, ReadOnlyWhatTheyDeclare) {
  std::mt19937_64 random(1);
  const auto all = decisions(kind);
  for (const char *text : {"gemm m=4096 n=4096 k=4096 b=nk", "gemm m=7 n=130 k=66 dtype=f32",
                           "gemm m=40 n=1001 k=1001 a=km batch=3"}) {
    const Problem problem = *parseProblem(text);
    for (int round = 0; round < 600; ++round) {
      const Schedule schedule = anySchedule(random);
      for (const Rule &rule : rules(kind)) {
        Schedule other = schedule;
        const Schedule source = anySchedule(random);
        for (std::size_t i = 0; i < all.size(); ++i) {
          if ((rule.reads >> i & 1) == 0) {
            all[i].set(other, all[i].get(source));
          }
        }
        ASSERT_EQ(rule.holds(problem, schedule, gfx950()), rule.holds(problem, other, gfx950()))
            << rule.name << "\n"
            << print(schedule) << "\n"
            << print(other);
      }
    }
  }
}

TEST(TritonGemmRules, APlanIsMadeForAnySchedule) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 5000; ++round) {
    Schedule schedule = defaultSchedule(kind);
    for (const Decision &decision : decisions(kind)) {
      const auto values = static_cast<std::uint64_t>(decision.highest - decision.lowest + 1);
      decision.set(schedule, decision.lowest + static_cast<std::int64_t>(random() % values));
    }
    isLegal(*parseProblem(square), schedule, gfx950());
    for (const Rule &rule : rules(kind)) {
      EXPECT_FALSE(rule.explain(*parseProblem(square), schedule, gfx950()).empty());
    }
  }
}

} // namespace
} // namespace kw
