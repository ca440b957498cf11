// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Problem.h"

#include <gmock/gmock.h>

namespace kw {
namespace {

using testing::HasSubstr;

const std::string sizes = "attention b=2 hq=8 hkv=2 sq=3 skv=10 d=64";

TEST(AttentionProblem, PrintsCanonically) {
  EXPECT_EQ(print(*parseProblem("attention skv=10 d=64 hkv=2 hq=8 b=2 sq=3 scale=0.125 dv=64")),
            sizes + " dtype=bf16");
  const std::string full =
      "attention b=2 hq=8 hkv=2 sq=3 skv=10 d=64 dv=32 dtype=f16 kvdtype=fp8 mask=window:7 "
      "score=softcap:30.5 scale=1 lse=1 layout=bshd varlen=lengths.txt page=16 sinks=1";
  EXPECT_EQ(print(*parseProblem(full)), full);
  EXPECT_EQ(printCompiledPart(*parseProblem(full)),
            "attention hq=8 hkv=2 d=64 dv=32 dtype=f16 kvdtype=fp8 mask=window:7 "
            "score=softcap:30.5 scale=1 lse=1 varlen=lengths.txt page=16 sinks=1");
}

TEST(AttentionProblem, EveryCombinationOfKeysParsesBack) {
  for (const char *types : {"", " dtype=f32", " dtype=fp8", " dtype=f16 kvdtype=bf8"}) {
    for (const char *mask :
         {"", " mask=causal", " mask=window:4", " mask=prefix:2", " mask=document:a/b.txt"}) {
      for (const char *score : {"", " score=alibi", " score=softcap:20"}) {
        for (const char *rest : {"", " lse=1 layout=bshd", " page=64 sinks=1 scale=0.5 dv=16"}) {
          const std::string text = sizes + types + mask + score + rest;
          const auto problem = parseProblem(text);
          ASSERT_TRUE(problem) << text << ": " << problem.error().message;
          const auto again = parseProblem(print(*problem));
          ASSERT_TRUE(again) << text;
          EXPECT_EQ(*again, *problem) << text;
          EXPECT_EQ(print(*again), print(*problem));
        }
      }
    }
  }
}

TEST(AttentionProblem, RefusesByName) {
  const auto complaint = [](const std::string &more) {
    return parseProblem(sizes + more).error().message;
  };
  EXPECT_THAT(parseProblem("attention b=1 hq=1 hkv=1 sq=1 skv=1").error().message,
              HasSubstr("key \"d\" is missing"));
  EXPECT_THAT(parseProblem("attention b=1 hq=6 hkv=4 sq=1 skv=1 d=64").error().message,
              HasSubstr("hkv divides hq"));
  for (const char *mask : {"diagonal", "causal:3", "window", "window:0", "window:x", "prefix:-1",
                           "document", "document:", "none:1"}) {
    EXPECT_THAT(complaint(std::string(" mask=") + mask), HasSubstr("\"mask\"")) << mask;
  }
  for (const char *score : {"relu", "alibi:2", "softcap", "softcap:0", "softcap:-3"}) {
    EXPECT_THAT(complaint(std::string(" score=") + score), HasSubstr("\"score\"")) << score;
  }
  EXPECT_THAT(complaint(" dtype=i8"), HasSubstr("accepted: f32 f16 bf16 fp8 bf8"));
  EXPECT_THAT(complaint(" layout=sbhd"), HasSubstr("accepted: bhsd bshd"));
  EXPECT_THAT(complaint(" page=0"), HasSubstr("\"page\""));
  EXPECT_THAT(complaint(" scale=x"), HasSubstr("\"scale\""));
  EXPECT_THAT(complaint(" m=3"), HasSubstr("unknown key \"m\""));
  EXPECT_THAT(parseProblem("attention b=2147483647 hq=2147483647 hkv=1 sq=2147483647 skv=1 d=64")
                  .error()
                  .message,
              HasSubstr("more than 2^50 bytes"));
}

TEST(AttentionProblem, Tensors) {
  const std::vector<Tensor> all = tensors(*parseProblem(sizes + " lse=1"));
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0].name, "q");
  EXPECT_EQ(all[0].shape, (std::vector<std::int64_t>{2, 8, 3, 64}));
  EXPECT_EQ(all[1].name, "k");
  EXPECT_EQ(all[1].strides, (std::vector<std::int64_t>{2 * 10 * 64, 10 * 64, 64, 1}));
  EXPECT_EQ(all[2].name, "v");
  EXPECT_EQ(all[3].name, "o");
  EXPECT_EQ(all[4].name, "lse");
  EXPECT_EQ(all[4].type, ElementType::f32);
  EXPECT_EQ(all[4].shape, (std::vector<std::int64_t>{2, 8, 3}));
  const Tensor other = tensors(*parseProblem(sizes + " layout=bshd"))[1];
  EXPECT_EQ(other.shape, (std::vector<std::int64_t>{2, 10, 2, 64}));
  EXPECT_EQ(other.strides, (std::vector<std::int64_t>{10 * 2 * 64, 2 * 64, 64, 1}));
  // Latent attention reads v as a part of k.
  EXPECT_EQ(tensors(*parseProblem("attention b=1 hq=16 hkv=1 sq=1 skv=9 d=576 dv=512")).size(), 3u);
}

/// Pairs of query and column that each mask lets through, counted one by one.
double countedPairs(const std::string &mask, int sq, int skv, int size) {
  int pairs = 0;
  for (int s = 0; s < sq; ++s) {
    for (int column = 0; column < skv; ++column) {
      const int last = skv - sq + s;
      const bool causal = column <= last;
      pairs += mask == "none" || (mask == "causal" && causal) ||
               (mask == "window" && causal && column > last - size) ||
               (mask == "prefix" && (causal || column < size));
    }
  }
  return pairs;
}

TEST(AttentionProblem, CountsWorkOfMasks) {
  for (const std::string mask : {"none", "causal", "window", "prefix"}) {
    for (int sq : {1, 3, 8, 20}) {
      for (int skv : {1, 7, 12, 40}) {
        for (int size : {1, 5, 11, 60}) {
          const bool sized = mask == "window" || mask == "prefix";
          const std::string text = "attention b=1 hq=1 hkv=1 d=2 dv=3 sq=" + std::to_string(sq) +
                                   " skv=" + std::to_string(skv) + " mask=" + mask +
                                   (sized ? ":" + std::to_string(size) : "");
          EXPECT_DOUBLE_EQ(flops(*parseProblem(text)), 2 * 5 * countedPairs(mask, sq, skv, size))
              << text;
        }
      }
    }
  }
  EXPECT_DOUBLE_EQ(compulsoryBytes(*parseProblem(sizes + " lse=1")),
                   2 * (2 * 8 * 3 * 64 * 2 + 2 * 2 * 10 * 64 * 2) + 2 * 8 * 3 * 4);
}

} // namespace
} // namespace kw
