// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/search/strategies/Drive.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(Random, IsTheUniformSampleOfItsSeed) {
  const Space space = smallGemmSpace("gemm m=4096 n=4096 k=4096 b=nk");
  const auto strategy = make("random", space, 11);
  std::vector<std::string> sample;
  for (const Schedule &schedule : space.sample(40, 11)) {
    sample.push_back(print(schedule));
  }
  EXPECT_EQ(drive(*strategy, [](const Schedule &) { return 1.0; }, 40, 7), sample);
  EXPECT_EQ(strategy->estimated(), 0u);
}

TEST(Random, SeedsDiffer) {
  const Space space = smallGemmSpace("gemm m=4096 n=4096 k=4096 b=nk");
  EXPECT_NE(print(make("random", space, 1)->ask(1)[0]), print(make("random", space, 2)->ask(1)[0]));
}

} // namespace
} // namespace kw
