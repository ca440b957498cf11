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

const Target &gfx950() { return **findTarget("gfx950"); }

std::vector<Problem> someProblems() {
  std::vector<Problem> problems;
  for (const char *text :
       {"gemm m=4096 n=4096 k=4096 b=nk", "gemm m=7 n=130 k=66", "gemm m=1 n=1 k=1 b=nk out=f32",
        "gemm m=100 n=96 k=40 dtype=f16 ldb=97", "gemm m=72 n=96 k=40 a=km batch=3 sa=3000",
        "gemm m=64 n=80 k=1024 preshuffle=1", "gemm m=100 n=96 k=80 dtype=i8 out=i32 a=km",
        "gemm m=100 n=96 k=40 dtype=f32 b=nk",
        // At the limits of a tile's offsets and of a grid.
        "gemm m=4000 n=4000 k=8 b=nk lda=8000000 ldb=8000000", "gemm m=2000000000 n=1000 k=3 b=nk",
        "rmsnorm rows=512 cols=4096 residual=1", "rmsnorm rows=1 cols=13",
        "rmsnorm rows=100000 cols=262144 dtype=f32", "rmsnorm rows=67108863 cols=8",
        "attention b=4 hq=64 hkv=8 sq=1 skv=8192 d=128",
        "attention b=1 hq=8 hkv=8 sq=4 skv=33 d=64",
        "attention b=2 hq=128 hkv=1 sq=16 skv=1000 d=128 dtype=f16 mask=causal lse=1 layout=bshd",
        // At the limits of a grid and of a tile's offsets.
        "attention b=1000000 hq=64 hkv=8 sq=1 skv=100000 d=128",
        "attention b=1 hq=131072 hkv=131072 sq=1 skv=4096 d=128 layout=bshd",
        // Prefill, latent attention, masks and scores.
        "attention b=2 hq=64 hkv=8 sq=4096 skv=4096 d=128 mask=causal",
        "attention b=64 hq=128 hkv=1 sq=1 skv=8192 d=576 dv=512",
        "attention b=1 hq=8 hkv=8 sq=100 skv=33 d=64 mask=window:9 score=softcap:30 kvdtype=fp8",
        "attention b=1000000 hq=64 hkv=64 sq=500 skv=500 d=128",
        // Scaled operands.
        "gemm m=4096 n=4096 k=4096 dtype=fp8 scale=block128 b=nk",
        "gemm m=4096 n=4096 k=4096 dtype=mxfp8 b=nk", "gemm m=512 n=512 k=512 dtype=mxfp6 a=km",
        "gemm m=64 n=256 k=1024 dtype=mxfp4 preshuffle=1",
        "gemm m=64 n=256 k=1024 dtype=fp8 epilogue=quant:fp8",
        // Groups: of many rows, of one, unequal, at the limit of a grid.
        "grouped_gemm groups=8 tokens=4096 topk=2 n=4096 k=1024 b=nk epilogue=swiglu,weight",
        "grouped_gemm groups=64 tokens=3 topk=4 n=130 k=66",
        "grouped_gemm groups=32 tokens=512 topk=4 n=512 k=512 routing=zipf:1 dtype=mxfp4 b=nk",
        "grouped_gemm groups=16 tokens=512 topk=4 n=512 k=512 dtype=fp8 scale=block128",
        "grouped_gemm groups=16 tokens=512 topk=4 n=512 k=512 dtype=mxfp6",
        "grouped_gemm groups=16 tokens=512 topk=4 n=512 k=512 preshuffle=1",
        "grouped_gemm groups=16 tokens=512 topk=4 n=512 k=512 dtype=i8 out=i32",
        "grouped_gemm groups=2 tokens=4000 topk=1 n=4000 k=8000000 b=nk",
        "grouped_gemm groups=4 tokens=100000000 topk=4 n=1000 k=3 b=nk",
        "topk rows=512 cols=4096 k=64", "topk rows=3 cols=2000 k=2000 dtype=bf16",
        "topk rows=67108863 cols=8 k=8"}) {
    problems.push_back(*parseProblem(text));
  }
  return problems;
}

std::int64_t anyValue(const Decision &decision, std::mt19937_64 &random) {
  // Mostly small powers of two: those get past the first rules.
  const std::int64_t value =
      random() % 4 == 0
          ? decision.lowest + static_cast<std::int64_t>(random() % (decision.highest + 1))
          : std::int64_t(1) << random() % 10;
  return std::clamp(value, decision.lowest, decision.highest);
}

Schedule anySchedule(Family family, std::mt19937_64 &random) {
  Schedule schedule = defaultSchedule(family);
  for (const Decision &decision : decisions(family)) {
    if (random() % 2 == 0) {
      decision.set(schedule, anyValue(decision, random));
    }
  }
  return schedule;
}

constexpr std::array families{Family::gemm, Family::rmsnorm, Family::attention, Family::groupedGemm,
                              Family::topk};

TEST(Rule, NamesAreUniqueAndTheProblemsRulesComeFirst) {
  for (Family family : families) {
    std::set<std::string_view> names;
    bool decisionsRead = false;
    for (const Rule &rule : rules(family)) {
      EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
      EXPECT_FALSE(rule.reads == 0 && decisionsRead) << rule.name;
      decisionsRead |= rule.reads != 0;
      EXPECT_EQ(rule.reads >> decisions(family).size(), 0u) << rule.name;
    }
  }
}

/// What a rule does not declare must not change its answer: the enumerator relies on it.
TEST(Rule, ReadsOnlyWhatItDeclares) {
  std::mt19937_64 random(1);
  for (const Problem &problem : someProblems()) {
    const auto all = decisions(problem.family());
    for (int round = 0; round < 400; ++round) {
      const Schedule schedule = anySchedule(problem.family(), random);
      for (const Rule &rule : rules(problem.family())) {
        Schedule other = schedule;
        for (std::size_t i = 0; i < all.size(); ++i) {
          if ((rule.reads >> i & 1) == 0) {
            all[i].set(other, anyValue(all[i], random));
          }
        }
        ASSERT_EQ(rule.holds(problem, schedule, gfx950()), rule.holds(problem, other, gfx950()))
            << rule.name << " on " << print(problem) << "\n"
            << print(schedule) << "\n"
            << print(other);
      }
    }
  }
}

TEST(Rule, ReadsEachDecisionThatItDeclares) {
  // For each rule and decision there is a schedule where that decision alone changes the answer.
  std::mt19937_64 random(2);
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const Problem &problem : someProblems()) {
    const auto all = decisions(problem.family());
    for (int round = 0; round < 2500; ++round) {
      const Schedule schedule = anySchedule(problem.family(), random);
      for (const Rule &rule : rules(problem.family())) {
        for (std::size_t i = 0; i < all.size(); ++i) {
          if ((rule.reads >> i & 1) == 0 || seen.contains({rule.name, all[i].name})) {
            continue;
          }
          Schedule other = schedule;
          all[i].set(other, anyValue(all[i], random));
          if (rule.holds(problem, schedule, gfx950()) != rule.holds(problem, other, gfx950())) {
            seen.insert({rule.name, all[i].name});
          }
        }
      }
    }
  }
  // Grouped products borrow GEMM's rules, which are seen there.
  const auto isBorrowed = [](Family family, const Rule &rule) {
    return family == Family::groupedGemm &&
           std::ranges::find(rules(Family::gemm), rule.name, &Rule::name) !=
               rules(Family::gemm).end();
  };
  std::string missing;
  for (Family family : families) {
    for (const Rule &rule : rules(family)) {
      if (isBorrowed(family, rule)) {
        continue;
      }
      for (std::size_t i = 0; i < decisions(family).size(); ++i) {
        const std::string_view decision = decisions(family)[i].name;
        if ((rule.reads >> i & 1) != 0 && !seen.contains({rule.name, decision})) {
          missing += std::string(rule.name) + " reads " + std::string(decision) + "; ";
        }
      }
    }
  }
  EXPECT_EQ(missing, "");
}

TEST(Rule, AScheduleOfAnotherFamilyIsOneViolation) {
  const auto violations =
      checkLegal(*parseProblem("gemm m=1 n=1 k=1"), RmsNormSchedule(), gfx950());
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_THAT(violations[0].message, HasSubstr("a schedule of rmsnorm for a problem of gemm"));
  EXPECT_FALSE(isLegal(*parseProblem("gemm m=1 n=1 k=1"), RmsNormSchedule(), gfx950()));
}

TEST(Rule, CheckLegalAndIsLegalAgree) {
  std::mt19937_64 random(4);
  int legal = 0;
  for (const Problem &problem : someProblems()) {
    for (int round = 0; round < 15; ++round) {
      const Schedule schedule = anySchedule(problem.family(), random);
      const bool holds = isLegal(problem, schedule, gfx950());
      EXPECT_EQ(checkLegal(problem, schedule, gfx950()).empty(), holds) << print(schedule);
      legal += holds ? 1 : 0;
    }
  }
  EXPECT_GT(legal, 0);
}

/// "...; legal with stages=2 or tile=128x128x32": the changes, applied.
std::vector<Schedule> suggested(const std::string &message, const Schedule &schedule) {
  constexpr std::string_view mark = "; legal with ";
  std::vector<Schedule> found;
  const std::size_t at = message.find(mark);
  if (at == message.npos) {
    return found;
  }
  std::string rest = message.substr(at + mark.size());
  while (!rest.empty()) {
    const std::size_t end = rest.find(" or ");
    const std::string keys = rest.substr(0, end);
    const auto parsed = parseSchedule("gemm.1:" + keys);
    EXPECT_TRUE(parsed) << keys;
    Schedule changed = schedule;
    for (const Decision &decision : decisions(Family::gemm)) {
      if (("," + keys).find("," + std::string(decision.key) + "=") != keys.npos) {
        decision.set(changed, decision.get(*parsed));
      }
    }
    found.push_back(changed);
    rest = end == rest.npos ? "" : rest.substr(end + 4);
  }
  return found;
}

TEST(Rule, WhatIsSuggestedIsLegal) {
  const Problem problem = *parseProblem("gemm m=4096 n=4096 k=4096 b=nk");
  int changes = 0;
  for (const char *text :
       {"gemm.1:stages=3", "gemm.1:tile=256x256x64,waves=2x4,stages=3,prefetch=2",
        "gemm.1:mfma=16x16x16", "gemm.1:tile=100x128x64", "gemm.1:waves=2x3", "gemm.1:va=8",
        "gemm.1:tile=128x128x256", "gemm.1:tile=256x256x64,waves=2x2", "gemm.1:prefetch=2",
        "gemm.1:tile=512x256x64,waves=2x4,group=1024"}) {
    const Schedule schedule = *parseSchedule(text);
    const auto violations = checkLegal(problem, schedule, gfx950());
    ASSERT_FALSE(violations.empty()) << text;
    const auto options = suggested(violations.front().message, schedule);
    EXPECT_FALSE(options.empty()) << text << ": " << violations.front().message;
    for (const Schedule &option : options) {
      EXPECT_TRUE(isLegal(problem, option, gfx950())) << violations.front().message;
      ++changes;
    }
  }
  EXPECT_GT(changes, 15);
}

TEST(Rule, TheNearestChangeIsTheSmallest) {
  const Problem problem = *parseProblem("gemm m=4096 n=4096 k=4096 b=nk");
  const Schedule wrong = *parseSchedule("gemm.1:waves=2x3");
  const auto near = nearestLegal(problem, wrong, gfx950(), ~DecisionMask(0), 3);
  ASSERT_FALSE(near.empty());
  EXPECT_EQ(std::get<GemmSchedule>(near.front()), GemmSchedule()); // 2x2 is nearer than 2x4
  // A legal schedule needs no change, and its neighbours are one change away.
  EXPECT_EQ(nearestLegal(problem, GemmSchedule(), gfx950(), 0, 3).size(), 0u);
}

} // namespace
} // namespace kw
