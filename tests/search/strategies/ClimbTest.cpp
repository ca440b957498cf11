// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/search/strategies/Drive.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(Climb, FindsTheBestOfASpaceThatItSeesWhole) {
  const Space space = smallGemmSpace("gemm m=4096 n=4096 k=4096 b=nk");
  const auto all = make("exhaustive", space)->ask(20);
  const auto climbed = make("climb", space)->ask(20);
  CostModel model(space.problem(), gfx950());
  ASSERT_EQ(climbed.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(model.timeUs(climbed[i]), model.timeUs(all[i])) << i;
  }
}

TEST(Climb, ComesNearTheBestOfALargeSpaceFromAPartOfIt) {
  const Space space(*parseProblem("gemm m=512 n=1024 k=512 dtype=bf16 b=nk"), gfx950());
  ASSERT_GT(space.size(), std::uint64_t(1) << 22);
  CostModel model(space.problem(), gfx950());
  const double best = model.timeUs(make("exhaustive", space)->ask(1).front());
  const auto climb = make("climb", space);
  EXPECT_LE(model.timeUs(climb->ask(1).front()), 1.02 * best);
  EXPECT_LT(climb->estimated(), space.size());
}

TEST(UsualStrategy, RanksWholeWhatIsNotTooLarge) {
  EXPECT_EQ(usualStrategy(smallGemmSpace("gemm m=4096 n=4096 k=4096 b=nk")), "exhaustive");
}

} // namespace
} // namespace kw
