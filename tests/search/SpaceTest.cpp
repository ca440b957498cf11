// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/Space.h"

#include "tests/search/Spaces.h"

#include <gmock/gmock.h>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace kw {
namespace {

/// Every combination of the axes' values, the last axis fastest.
void forEachRaw(const Space &space, const std::function<void(const Schedule &)> &visit,
                Schedule schedule, std::size_t axis = 0) {
  if (axis == space.axes().size()) {
    return visit(schedule);
  }
  const Axis &each = space.axes()[axis];
  const Decision &decision =
      decisions(space.problem().family())[static_cast<std::size_t>(each.decision)];
  for (std::int64_t value : each.values) {
    decision.set(schedule, value);
    forEachRaw(space, visit, schedule, axis + 1);
  }
}

struct BruteForce {
  SpaceCount count;
  std::vector<std::string> legal;
};

BruteForce bruteForce(const Space &space) {
  BruteForce result;
  const auto all = rules(space.problem().family());
  for (const Rule &rule : all) {
    result.count.rules.push_back({rule.name, 0});
  }
  const auto visit = [&](const Schedule &schedule) {
    ++result.count.raw;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].holds(space.problem(), schedule, space.target())) {
        ++result.count.rules[i].removed;
        return;
      }
    }
    ++result.count.legal;
    result.legal.push_back(print(schedule));
  };
  forEachRaw(space, visit, defaultSchedule(space.problem().family()));
  return result;
}

std::vector<std::string> listed(const Space &space) {
  std::vector<std::string> all;
  space.forEach([&](const Schedule &schedule) {
    all.push_back(print(schedule));
    return true;
  });
  return all;
}

TEST(Space, AgreesWithBruteForce) {
  for (const Space &space :
       {smallGemmSpace("gemm m=4096 n=4096 k=4096 b=nk"), smallGemmSpace("gemm m=33 n=100 k=72"),
        smallGemmSpace("gemm m=64 n=64 k=64 dtype=f32"),
        Space(*parseProblem("rmsnorm rows=64 cols=5120"), gfx950()),
        Space(*parseProblem("rmsnorm rows=3 cols=77 residual=1"), gfx950()),
        Space(*parseProblem("rmsnorm rows=3 cols=8 quant=fp8"), gfx950())}) {
    const BruteForce expected = bruteForce(space);
    EXPECT_EQ(space.count().raw, expected.count.raw);
    EXPECT_EQ(space.count().legal, expected.count.legal);
    std::uint64_t sum = space.count().legal;
    for (std::size_t i = 0; i < expected.count.rules.size(); ++i) {
      EXPECT_EQ(space.count().rules[i].rule, expected.count.rules[i].rule);
      EXPECT_EQ(space.count().rules[i].removed, expected.count.rules[i].removed)
          << print(space.problem()) << ": " << expected.count.rules[i].rule;
      sum += space.count().rules[i].removed;
    }
    EXPECT_EQ(sum, space.count().raw);
    EXPECT_EQ(listed(space), expected.legal);
  }
}

TEST(Space, OfAnotherGenerator) {
  const Problem problem = *parseProblem("gemm m=512 n=1000 k=1000 b=nk");
  const Space space(problem, gfx950(), Generator::triton);
  EXPECT_EQ(space.kind(), ScheduleKind(Family::gemm, Generator::triton));
  EXPECT_GT(space.size(), 1000u);
  std::uint64_t sum = space.size();
  for (const RuleCount &rule : space.count().rules) {
    sum += rule.removed;
  }
  EXPECT_EQ(sum, space.count().raw);
  for (const Schedule &schedule : space.sample(50, 1)) {
    EXPECT_TRUE(std::holds_alternative<TritonGemmSchedule>(schedule));
    EXPECT_TRUE(space.contains(schedule));
    EXPECT_FALSE(Space(problem, gfx950()).contains(schedule));
  }
  EXPECT_FALSE(space.contains(GemmSchedule()));
}

TEST(Space, RanksAreTheOrderOfTheList) {
  const Space space = smallGemmSpace("gemm m=4096 n=4096 k=4096 b=nk");
  const std::vector<std::string> all = listed(space);
  ASSERT_EQ(all.size(), space.size());
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    const std::size_t rank = random() % all.size();
    EXPECT_EQ(print(space.at(rank)), all[rank]);
    const std::size_t last = rank + random() % 50;
    std::size_t next = rank;
    space.forRange(rank, last, [&](const Schedule &schedule) {
      EXPECT_EQ(print(schedule), all[next++]);
      return true;
    });
    EXPECT_EQ(next, std::min(last, all.size()));
  }
  int visits = 0;
  space.forEach([&](const Schedule &) { return ++visits < 3; });
  EXPECT_EQ(visits, 3);
}

TEST(Space, SamplesWithoutReplacementAndRepeatably) {
  const Space space(*parseProblem("rmsnorm rows=64 cols=4096"), gfx950());
  const auto texts = [&](std::size_t n, std::uint64_t seed) {
    std::vector<std::string> all;
    for (const Schedule &schedule : space.sample(n, seed)) {
      EXPECT_TRUE(space.contains(schedule));
      all.push_back(print(schedule));
    }
    return all;
  };
  const auto whole = texts(100000, 1);
  EXPECT_EQ(whole.size(), space.size());
  EXPECT_EQ(std::set<std::string>(whole.begin(), whole.end()).size(), whole.size());
  EXPECT_EQ(texts(20, 7), texts(20, 7));
  EXPECT_NE(texts(20, 7), texts(20, 8));
  const auto more = texts(30, 7);
  EXPECT_EQ(texts(20, 7), std::vector<std::string>(more.begin(), more.begin() + 20));
}

TEST(Space, SamplesUniformly) {
  const Space space(*parseProblem("rmsnorm rows=64 cols=4096"), gfx950());
  constexpr int rounds = 20000, each = 3;
  std::map<std::string, int> hits;
  for (int seed = 0; seed < rounds; ++seed) {
    for (const Schedule &schedule : space.sample(each, static_cast<std::uint64_t>(seed))) {
      ++hits[print(schedule)];
    }
  }
  ASSERT_EQ(hits.size(), space.size());
  const double expected = double(rounds) * each / static_cast<double>(space.size());
  for (const auto &[text, count] : hits) {
    EXPECT_NEAR(count, expected, 6 * std::sqrt(expected)) << text;
  }
}

TEST(Space, NeighboursDifferInOneDecision) {
  const Space space(*parseProblem("gemm m=4096 n=4096 k=4096 b=nk"), gfx950());
  const Schedule middle = *parseSchedule("gemm.1:tile=256x256x64,waves=2x4");
  const auto near = space.neighbours(middle);
  EXPECT_GT(near.size(), 5u);
  std::set<std::string> texts;
  for (const Schedule &schedule : near) {
    EXPECT_TRUE(space.contains(schedule));
    texts.insert(print(schedule));
    int changed = 0;
    for (const Decision &decision : decisions(Family::gemm)) {
      changed += decision.get(schedule) != decision.get(middle) ? 1 : 0;
    }
    EXPECT_EQ(changed, 1) << print(schedule);
  }
  EXPECT_EQ(texts.size(), near.size());
}

TEST(Space, ContainsOnlyLegalSchedulesOnItsAxes) {
  const Space space(*parseProblem("gemm m=4096 n=4096 k=4096 b=nk"), gfx950());
  EXPECT_TRUE(space.contains(*parseSchedule("gemm.1:")));
  EXPECT_FALSE(space.contains(*parseSchedule("gemm.1:tile=160x128x64"))); // legal, not tried
  EXPECT_FALSE(space.contains(*parseSchedule("gemm.1:tile=256x256x64"))); // spills
  EXPECT_FALSE(space.contains(*parseSchedule("rmsnorm.1:")));
}

// The bar of the contract: large, and with the shapes that fast kernels use.
TEST(Space, OfASquareGemmIsLargeAndHasTheKnownShapes) {
  const Space space(*parseProblem("gemm m=4096 n=4096 k=4096 dtype=bf16 b=nk"), gfx950());
  EXPECT_GE(space.size(), 100000u);
  for (const char *text :
       {"gemm.1:tile=256x256x64,waves=2x4", "gemm.1:tile=256x256x64,acc=agpr",
        "gemm.1:", "gemm.1:tile=256x256x64,acc=agpr,schedule=interleaved,epi=swap",
        "gemm.1:tile=16x64x256,waves=1x4", "gemm.1:tile=32x64x128,waves=1x4"}) {
    EXPECT_TRUE(space.contains(*parseSchedule(text))) << text;
  }
}

TEST(Space, IsNeverEmptyForAProblemThatIsSupported) {
  std::vector<std::string> problems{"gemm m=1 n=1 k=1",
                                    "gemm m=1 n=1 k=1 b=nk",
                                    "gemm m=1 n=8192 k=8192 b=nk",
                                    "gemm m=8192 n=1 k=7",
                                    "gemm m=17 n=31 k=129 dtype=f16 out=f32",
                                    "rmsnorm rows=1 cols=1",
                                    "rmsnorm rows=1 cols=262144",
                                    "rmsnorm rows=7 cols=8191",
                                    "attention b=1 hq=1 hkv=1 sq=1 skv=1 d=64",
                                    "attention b=256 hq=64 hkv=1 sq=16 skv=131072 d=128",
                                    "attention b=3 hq=12 hkv=2 sq=5 skv=3 d=128 mask=causal lse=1"};
  std::mt19937_64 random(3);
  for (int round = 0; round < 12; ++round) {
    const auto size = [&] { return std::to_string(1 + (random() >> (random() % 14 + 50))); };
    problems.push_back("gemm m=" + size() + " n=" + size() + " k=" + size() +
                       (round % 2 == 0 ? " b=nk" : ""));
    problems.push_back("rmsnorm rows=" + size() + " cols=" + size());
    const char *kinds[] = {" a=km batch=3", " dtype=f32 a=km", " dtype=i8 out=i32",
                           " dtype=i8 out=i32 a=km b=nk batch=2 sa=0"};
    problems.push_back("gemm m=" + size() + " n=" + size() + " k=" + size() + kinds[round % 4]);
    problems.push_back("gemm m=" + size() + " n=" + size() +
                       " k=" + std::to_string(64 << round % 8) + " preshuffle=1" +
                       (round % 2 == 0 ? " dtype=i8 out=i32" : ""));
  }
  for (const char *type : {"fp8", "bf8", "fp8 scale=none", "fp8 scale=row", "mxfp8", "mxfp6",
                           "mxfp4", "i8 scale=row"}) {
    for (const char *size : {"m=1 n=32 k=32", "m=17 n=96 k=512 b=nk", "m=96 n=128 k=256 a=km",
                             "m=300 n=64 k=1024 b=nk epilogue=bias,quant:fp8"}) {
      problems.push_back(std::string("gemm ") + size + " dtype=" + type);
    }
    problems.push_back(std::string("grouped_gemm groups=16 tokens=100 topk=3 n=256 k=512 "
                                   "epilogue=swiglu dtype=") +
                       type);
  }
  for (const char *text :
       {"gemm m=64 n=256 k=512 dtype=fp8 scale=block128",
        "gemm m=1 n=8 k=128 dtype=i8 scale=block128",
        "gemm m=64 n=256 k=512 dtype=mxfp4 preshuffle=1",
        "gemm m=8 n=8 k=64 dtype=fp8 preshuffle=1",
        "attention b=1 hq=8 hkv=8 sq=4096 skv=4096 d=128 mask=causal",
        "attention b=1 hq=3 hkv=1 sq=17 skv=1 d=64 mask=window:5 score=alibi lse=1",
        "attention b=16 hq=128 hkv=1 sq=1 skv=8192 d=576 dv=512",
        "attention b=16 hq=16 hkv=1 sq=2 skv=100 d=576 dv=512 kvdtype=fp8",
        "attention b=16 hq=16 hkv=1 sq=1 skv=8192 d=576 dv=512",
        "attention b=1 hq=8 hkv=1 sq=1 skv=8192 d=256",
        "attention b=1 hq=1 hkv=1 sq=1 skv=1 d=512",
        "attention b=1 hq=2 hkv=2 sq=3 skv=99 d=576 dtype=f16 mask=causal",
        "attention b=2 hq=4 hkv=2 sq=70 skv=99 d=32 dv=576 dtype=fp8 kvdtype=bf8 page=16",
        "attention b=1 hq=2 hkv=2 sq=50 skv=9 d=96 dv=160 dtype=bf8 mask=window:3",
        "attention b=2 hq=16 hkv=4 sq=1 skv=100 d=192 dv=128 page=16 sinks=1 mask=prefix:7",
        "attention b=2 hq=16 hkv=4 sq=333 skv=100 d=256 dtype=fp8 score=softcap:3 layout=bshd",
        "gemm m=64 n=64 k=64 adtype=fp8 bdtype=mxfp4",
        "rmsnorm rows=7 cols=4096 quant=fp8",
        "grouped_gemm groups=256 tokens=1 topk=8 n=2048 k=7168 dtype=fp8 scale=block128 b=nk",
        "grouped_gemm groups=1 tokens=1 topk=1 n=1 k=1",
        "topk rows=1 cols=1 k=1",
        "topk rows=1000 cols=131072 k=2048 dtype=bf16 index=i32",
        "topk rows=3 cols=7 k=7"}) {
    problems.push_back(text);
  }
  for (const std::string &problem : problems) {
    EXPECT_GT(Space(*parseProblem(problem), gfx950()).size(), 0u) << problem;
  }
  EXPECT_GT(Space(*parseProblem("gemm m=4096 n=4096 k=4096 b=nk"), **findTarget("gfx942")).size(),
            0u);
}

TEST(Space, OfAnUnsupportedProblemIsEmptyAndSaysWhy) {
  const Space space(*parseProblem("gemm m=64 n=64 k=64 adtype=f16 bdtype=bf16"), gfx950());
  EXPECT_EQ(space.size(), 0u);
  const SpaceCount count = space.count();
  const auto first = std::ranges::find_if(count.rules, [](const auto &r) { return r.removed > 0; });
  ASSERT_NE(first, count.rules.end());
  EXPECT_EQ(first->rule, "notSupported.operands");
  EXPECT_EQ(first->removed, count.raw);
  EXPECT_TRUE(space.sample(5, 0).empty());
}

TEST(Space, HasOneAxisADecisionOfUsefulValues) {
  for (const char *text : {"gemm m=4096 n=4096 k=4096", "gemm m=4096 n=4096 k=4095 dtype=i8",
                           "gemm m=64 n=64 k=64 dtype=mxfp4", "rmsnorm rows=64 cols=5120",
                           "attention b=2 hq=8 hkv=2 sq=1 skv=999 d=64", "topk rows=8 cols=64 k=3",
                           "grouped_gemm groups=8 tokens=100 topk=2 n=512 k=512"}) {
    const Problem problem = *parseProblem(text);
    std::set<int> seen;
    for (const Axis &axis : spaceAxes(problem, gfx950())) {
      EXPECT_TRUE(seen.insert(axis.decision).second);
      const Decision &decision =
          decisions(problem.family())[static_cast<std::size_t>(axis.decision)];
      EXPECT_FALSE(axis.values.empty()) << decision.name;
      for (std::int64_t value : axis.values) {
        EXPECT_EQ(decision.parse(decision.format(value)), value) << decision.name;
      }
    }
    EXPECT_EQ(seen.size(), decisions(problem.family()).size());
  }
}

} // namespace
} // namespace kw
