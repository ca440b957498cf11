// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/spaces/Spaces.h"

#include "tests/search/Spaces.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

using Values = std::vector<std::int64_t>;

const Values &valuesOf(const std::vector<Axis> &axes, std::string_view decision) {
  for (const Axis &axis : axes) {
    if (decisions(Family::gemm)[static_cast<std::size_t>(axis.decision)].name == decision) {
      return axis.values;
    }
  }
  static const Values none;
  return none;
}

TEST(AxisList, FindsDecisionsByName) {
  AxisList list(Family::gemm);
  list.add("tileN", {1, 2});
  list.addNames("aLayout");
  const auto axes = list.take();
  EXPECT_EQ(axes[0].decision, 1);
  EXPECT_EQ(axes[1].values, (Values{0, 1, 2}));
}

TEST(VectorWidths, FollowTheAlignment) {
  EXPECT_EQ(vectorWidths(8192, 2, 16), (Values{16}));
  EXPECT_EQ(vectorWidths(8192, 2, 4), (Values{16, 4})); // direct loads of 4 bytes only
  EXPECT_EQ(vectorWidths(24, 2, 16), (Values{8, 4}));
  EXPECT_EQ(vectorWidths(4, 2, 16), (Values{4, 2}));
  EXPECT_EQ(vectorWidths(2, 2, 16), (Values{2}));
  EXPECT_EQ(vectorWidths(4, 4, 16), (Values{4}));
}

TEST(GemmAxes, FollowProblemAndTarget) {
  const auto aligned = gemmAxes(*parseProblem("gemm m=64 n=64 k=64"), gfx950());
  EXPECT_EQ(valuesOf(aligned, "aVector"), (Values{16}));
  const auto odd = gemmAxes(*parseProblem("gemm m=64 n=64 k=65"), gfx950());
  EXPECT_EQ(valuesOf(odd, "aVector"), (Values{2}));
  EXPECT_EQ(valuesOf(odd, "bVector"), (Values{16})); // n contiguous
  const auto transposed = gemmAxes(*parseProblem("gemm m=64 n=64 k=65 b=nk ldb=66"), gfx950());
  EXPECT_EQ(valuesOf(transposed, "bVector"), (Values{2}));
  const auto older = gemmAxes(*parseProblem("gemm m=64 n=64 k=64"), **findTarget("gfx942"));
  EXPECT_EQ(valuesOf(older, "mfmaK"), (Values{16, 8}));
}

} // namespace
} // namespace kw
