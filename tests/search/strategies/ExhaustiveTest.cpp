// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/search/strategies/Drive.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(Exhaustive, AsksInTheOrderOfTheModel) {
  // More schedules than one pass keeps: later ones come from another pass.
  const Space space = smallGemmSpace("gemm m=4096 n=4096 k=4096 b=nk");
  ASSERT_GT(space.size(), 1500u);
  CostModel model(space.problem(), gfx950());
  std::vector<std::pair<double, std::string>> expected;
  space.forEach([&](const Schedule &schedule) {
    expected.emplace_back(model.timeUs(schedule), print(schedule));
    return true;
  });
  std::ranges::stable_sort(expected, {}, [](const auto &each) { return each.first; });

  const auto strategy = make("exhaustive", space, 0, 2);
  const auto asked = drive(*strategy, [](const Schedule &) { return -1.0; }, 1500, 100);
  ASSERT_EQ(asked.size(), 1500u);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    ASSERT_EQ(asked[i], expected[i].second) << i;
  }
  EXPECT_EQ(strategy->estimated(), 2 * space.size()); // two passes
}

TEST(Exhaustive, EstimatesTheWholeSpaceInOnePass) {
  const Space space = smallGemmSpace("gemm m=4096 n=4096 k=4096 b=nk");
  const auto strategy = make("exhaustive", space);
  EXPECT_EQ(strategy->estimated(), 0u);
  strategy->ask(10);
  EXPECT_EQ(strategy->estimated(), space.size());
}

} // namespace
} // namespace kw
