// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/search/strategies/Drive.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace kw {
namespace {

/// Prefers what the model does not care for, so that only what is told can guide the search:
/// 1 + the number of decisions that differ from a target.
double distance(const Schedule &schedule) {
  const Schedule goal = *parseSchedule(
      "gemm.1:tile=64x192x32,waves=1x4,a=lds,b=lds,la=padding,lb=padding,epi=swap,stages=1,xcd=0,"
      "group=4");
  double differing = 1;
  for (const Decision &decision : decisions(Family::gemm)) {
    differing += decision.get(schedule) != decision.get(goal) ? 1 : 0;
  }
  return differing;
}

double best(const std::vector<std::string> &asked, const Formula &formula) {
  double least = 1e9;
  for (const std::string &text : asked) {
    const double us = formula(*parseSchedule(text));
    least = us >= 0 ? std::min(least, us) : least;
  }
  return least;
}

TEST(Evolutionary, LearnsFromWhatIsTold) {
  const Space space(*parseProblem("gemm m=4096 n=4096 k=4096 b=nk"), gfx950());
  double evolved = 0, random = 0;
  constexpr int seeds = 5;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    evolved += best(drive(*make("evolutionary", space, seed), distance, 300), distance);
    random += best(drive(*make("random", space, seed), distance, 300), distance);
  }
  EXPECT_LT(evolved / seeds, random / seeds - 1);
}

TEST(Evolutionary, StartsWithTheModelsBestOfASample) {
  const Space space(*parseProblem("gemm m=4096 n=4096 k=4096 b=nk"), gfx950());
  CostModel model(space.problem(), gfx950());
  const auto first = make("evolutionary", space, 3)->ask(5);
  const auto plain = space.sample(200, 4);
  const auto worst =
      std::ranges::max(first, {}, [&](const Schedule &s) { return model.timeUs(s); });
  int better = 0;
  for (const Schedule &schedule : plain) {
    better += model.timeUs(schedule) < model.timeUs(worst) ? 1 : 0;
  }
  EXPECT_LT(better, 20); // the five are among the best tenth
}

TEST(Evolutionary, DoesNotBreedFromFailures) {
  const Space space(*parseProblem("gemm m=4096 n=4096 k=4096 b=nk"), gfx950());
  // Everything with a through registers fails; the rest are equal.
  const Formula formula = [](const Schedule &schedule) {
    return std::get<GemmSchedule>(schedule).a.path == OperandPath::lds ? -1.0 : 1.0;
  };
  const auto asked = drive(*make("evolutionary", space, 1), formula, 300);
  const auto failures = [&](std::size_t first, std::size_t last) {
    return std::count_if(asked.begin() + first, asked.begin() + last, [&](const std::string &text) {
      return formula(*parseSchedule(text)) < 0;
    });
  };
  EXPECT_LT(failures(200, 300), 35);
}

TEST(Evolutionary, SurvivesWhenEverythingFails) {
  const Space space = smallGemmSpace("gemm m=4096 n=4096 k=4096 b=nk");
  const auto asked =
      drive(*make("evolutionary", space, 1), [](const Schedule &) { return -1.0; }, 120);
  EXPECT_EQ(asked.size(), 120u);
}

} // namespace
} // namespace kw
