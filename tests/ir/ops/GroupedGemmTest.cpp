// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Problem.h"

#include <gmock/gmock.h>
#include <numeric>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

GroupedGemm parsed(const std::string &text) {
  const auto problem = parseProblem("grouped_gemm " + text);
  EXPECT_TRUE(problem) << text << ": " << problem.error().message;
  return problem ? problem->groupedGemm() : GroupedGemm();
}

std::string canonical(const std::string &text) {
  const auto problem = parseProblem("grouped_gemm " + text);
  EXPECT_TRUE(problem) << text << ": " << problem.error().message;
  return problem ? print(*problem) : "";
}

std::string complaint(const std::string &text) {
  const auto problem = parseProblem("grouped_gemm " + text);
  EXPECT_FALSE(problem) << text;
  return problem ? "" : problem.error().message;
}

std::int64_t rowsIn(const GroupedGemm &op) {
  std::int64_t rows = 0;
  for (const GroupHeight &height : op.heights) {
    rows += height.rows * height.groups;
  }
  return rows;
}

TEST(GroupedGemmProblem, CanonicalText) {
  EXPECT_EQ(canonical("groups=8 tokens=16 topk=2 n=64 k=32"),
            "grouped_gemm groups=8 tokens=16 topk=2 n=64 k=32 dtype=bf16");
  const std::string full = "grouped_gemm groups=8 tokens=16 topk=2 n=64 k=32 adtype=fp8 "
                           "bdtype=mxfp4 out=f32 b=nk routing=zipf:1.2 epilogue=swiglu,weight "
                           "preshuffle=1";
  EXPECT_EQ(canonical(full.substr(13)), full);
  EXPECT_EQ(canonical("groups=8 tokens=16 topk=2 n=64 k=32 dtype=fp8 scale=block128 "
                      "routing=file:/tmp/rows.txt"),
            "grouped_gemm groups=8 tokens=16 topk=2 n=64 k=32 dtype=fp8 scale=block128 "
            "routing=file:/tmp/rows.txt");
  EXPECT_EQ(printCompiledPart(*parseProblem(full)),
            "grouped_gemm groups=8 topk=2 n=64 k=32 adtype=fp8 bdtype=mxfp4 out=f32 b=nk "
            "epilogue=swiglu,weight preshuffle=1");
}

TEST(GroupedGemmProblem, RefusesByName) {
  EXPECT_THAT(complaint("groups=8 tokens=16 topk=9 n=64 k=32"),
              HasSubstr("topk=9 is above groups=8"));
  EXPECT_THAT(complaint("groups=70000 tokens=16 topk=1 n=64 k=32"), HasSubstr("\"groups\""));
  EXPECT_THAT(complaint("groups=8 tokens=16 topk=2 n=63 k=32 epilogue=swiglu"),
              HasSubstr("swiglu halves n=63"));
  EXPECT_THAT(complaint("groups=8 tokens=2000000000 topk=8 n=64 k=32"), HasSubstr("tokens="));
  for (const char *routing : {"zipf", "zipf:", "zipf:-1", "zipf:nan", "uniform:1", "file:", "file",
                              "random", "zipf:1e9"}) {
    EXPECT_THAT(complaint(std::string("groups=8 tokens=16 topk=2 n=64 k=32 routing=") + routing),
                HasSubstr("\"routing\""))
        << routing;
  }
  EXPECT_THAT(complaint("groups=8 tokens=16 topk=2 n=64 k=32 m=5"), HasSubstr("unknown key"));
}

/// 16 tokens, 2 of 8 groups each: a group is missed by a token with chance 3/4, by all with 1%.
TEST(GroupedGemmProblem, UniformRoutingWorkedOutByHand) {
  const GroupedGemm many = parsed("groups=8 tokens=16 topk=2 n=64 k=32");
  EXPECT_THAT(many.heights, ElementsAre(GroupHeight{4, 8}));
  EXPECT_EQ(many.activeGroups(), 8);
  // 256 (1 - (248 / 256)^16) = 101.97 groups for 128 rows.
  const GroupedGemm few = parsed("groups=256 tokens=16 topk=8 n=64 k=32");
  EXPECT_THAT(few.heights, ElementsAre(GroupHeight{2, 26}, GroupHeight{1, 76}));
  // One token has exactly its groups.
  const GroupedGemm one = parsed("groups=256 tokens=1 topk=8 n=64 k=32");
  EXPECT_THAT(one.heights, ElementsAre(GroupHeight{1, 8}));
}

TEST(GroupedGemmProblem, ZipfRoutingPrefersTheFirstGroups) {
  // Shares 1, 1/2, 1/3, 1/4 of 25/12: 12, 6, 4, 3 of 25 tokens.
  EXPECT_THAT(expectedGroupRows(parsed("groups=4 tokens=25 topk=1 n=64 k=32 routing=zipf:1")),
              ElementsAre(12, 6, 4, 3));
  // The first group's share of two is above 1: every token is there.
  const auto rows =
      expectedGroupRows(parsed("groups=4 tokens=100 topk=2 n=64 k=32 routing=zipf:3"));
  EXPECT_EQ(rows[0], 100);
  EXPECT_GT(rows[1], rows[2]);
}

TEST(GroupedGemmProblem, ExpectedRowsAreAlwaysPossible) {
  for (const int groups : {1, 2, 7, 64, 384}) {
    for (const int tokens : {1, 3, 100, 32768}) {
      for (const int topk : {1, 2, 8}) {
        for (const char *routing : {"uniform", "zipf:0.5", "zipf:1.2", "zipf:20", "zipf:100"}) {
          if (topk > groups) {
            continue;
          }
          const GroupedGemm op =
              parsed("groups=" + std::to_string(groups) + " tokens=" + std::to_string(tokens) +
                     " topk=" + std::to_string(topk) + " n=64 k=32 routing=" + routing);
          EXPECT_EQ(rowsIn(op), op.rows());
          EXPECT_LE(op.heights.front().rows, tokens);
          EXPECT_GE(op.heights.back().rows, 1);
          EXPECT_EQ(op.product.m, op.heights.front().rows);
          EXPECT_LE(op.activeGroups(), groups);
          EXPECT_GE(op.activeGroups(), topk);
        }
      }
    }
  }
}

TEST(GroupedGemmProblem, RowsOfAFileAreTakenAsTheyAre) {
  GroupedGemm op = parsed("groups=4 tokens=10 topk=2 n=64 k=32 routing=file:rows.txt");
  EXPECT_TRUE(op.heights.empty());
  ASSERT_TRUE(readGroupRows(op, "10 0\n3\n 7\n"));
  EXPECT_THAT(op.heights, ElementsAre(GroupHeight{10, 1}, GroupHeight{7, 1}, GroupHeight{3, 1}));
  EXPECT_EQ(op.activeGroups(), 3);
  EXPECT_EQ(Problem{op}, *parseProblem(print(Problem{op}))) << "the rows are no part of the text";
  EXPECT_THAT(readGroupRows(op, "10 0 3").error().message,
              HasSubstr("3 numbers of rows for groups=4"));
  EXPECT_THAT(readGroupRows(op, "11 0 3 6").error().message, HasSubstr("a group of 11 rows"));
  EXPECT_THAT(readGroupRows(op, "1 0 3 6").error().message, HasSubstr("10 rows in all groups"));
  EXPECT_THAT(readGroupRows(op, "1 0 x 6").error().message, HasSubstr("\"x\" is no number"));
  EXPECT_EQ(op.activeGroups(), 3) << "left as it was";
}

TEST(GroupedGemmProblem, CountsActiveWeightsAndTokensOnce) {
  const Problem problem = *parseProblem(
      "grouped_gemm groups=256 tokens=1 topk=8 n=64 k=32 b=nk epilogue=swiglu,weight");
  EXPECT_EQ(flops(problem), 2.0 * 8 * 64 * 32);
  // One token, 8 of 256 weights, ids, offsets, router weights, 8 rows of 32 results.
  EXPECT_EQ(compulsoryBytes(problem),
            2.0 * 32 + 8 * 64 * 32 * 2 + 8 * 4 + 257 * 4 + 8 * 4 + 8 * 32 * 2);
  const auto all = tensors(problem);
  EXPECT_EQ(all[1].shape, (std::vector<std::int64_t>{256, 64, 32}));
  EXPECT_EQ(all.back().shape, (std::vector<std::int64_t>{8, 32}));
  const auto scaled = tensors(
      *parseProblem("grouped_gemm groups=4 tokens=10 topk=2 n=256 k=512 dtype=fp8 scale=block128"));
  EXPECT_EQ(scaled[2].name, "scale_a");
  EXPECT_EQ(scaled[2].shape, (std::vector<std::int64_t>{10, 4}));
  EXPECT_EQ(scaled[3].shape, (std::vector<std::int64_t>{4, 2, 4}));
}

} // namespace
} // namespace kw
