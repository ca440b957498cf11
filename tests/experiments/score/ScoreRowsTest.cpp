// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/ScoreRows.h"

#include "experiments/score/ScoreReport.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

/// Columns that hold a time or come from one, of every format.
constexpr std::array<std::string_view, 13> judged{
    "us",        "us1",           "us2",        "tflops",          "gbps",
    "eff_peak",  "best_us_shape", "n_seen",     "n_kernels_shape", "err",
    "err_ratio", "flags",         "weight_gbps"};

std::string gemmTable(const std::array<std::string, judged.size()> &values) {
  std::string text = "gfx,cu_num,op,dtype_a,dtype_b,dtype_out,scale,batch,M,N,K,kernel_family,"
                     "kernel_name,tile_m,tile_n,tile_k,split_k,split";
  for (const std::string_view column : judged) {
    text += fmt::format(",{}", column);
  }
  for (const int m : {1, 64, 700, 4096}) {
    text += fmt::format("\ngfx950,256,gemm,bf16,bf16,bf16,,1,{},2048,4096,asm_bf16,"
                        "_ZN5aiter9x_tn_64x64E,64,64,64,1,train",
                        m);
    for (const std::string &value : values) {
      text += fmt::format(",{}", value);
    }
  }
  return text + "\n";
}

std::vector<ScoredRow> scored(const std::string &text) {
  const auto table = TextTable::parse(text, "t.csv");
  EXPECT_TRUE(table);
  const auto rows = scoreRows({*table}, uncalibrated());
  EXPECT_TRUE(rows);
  return *rows;
}

std::array<std::string, judged.size()> all(const std::string &value) {
  std::array<std::string, judged.size()> values;
  values.fill(value);
  return values;
}

TEST(ScoreRows, NoTimeReachesItsOwnPrediction) {
  const std::vector<ScoredRow> base = scored(gemmTable(all("10")));
  for (const char *value : {"", "1", "99999", "peak", "0.5%"}) {
    const std::vector<ScoredRow> other = scored(gemmTable(all(value)));
    for (std::size_t i = 0; i < base.size(); ++i) {
      EXPECT_EQ(base[i].predictedUs, other[i].predictedUs) << value;
      EXPECT_EQ(base[i].lowUs, other[i].lowUs) << value;
      EXPECT_EQ(base[i].modelCase->features.size(), other[i].modelCase->features.size());
      for (std::size_t f = 0; f < base[i].modelCase->features.size(); ++f) {
        const float a = base[i].modelCase->features[f], b = other[i].modelCase->features[f];
        EXPECT_TRUE(a == b || (a != a && b != b)) << featureNames()[f];
      }
    }
  }
}

TEST(ScoreRows, SplitMayBeMissingOrTest) {
  std::string text = gemmTable(all("10"));
  for (std::size_t at = 0; (at = text.find(",train,", at)) != std::string::npos;) {
    text.replace(at, 7, ",test,");
  }
  EXPECT_EQ(scored(text).front().time.split, "test");
  EXPECT_EQ(scored("M,N,K,dtype_a,dtype_b,us\n16,64,64,bf16,bf16,5\n").front().status(), "ok");
}

TEST(ScoreRows, StatusSaysWhyARowDoesNotCount) {
  const auto rows = scored("M,N,K,dtype_a,dtype_b,us,flags\n"
                           "16,64,64,bf16,bf16,5,\n"
                           "16,64,64,bf16,bf16,5,hbm\n"
                           "16,64,64,bf16,bf16,,\n"
                           "16,64,64,q3,bf16,5,\n"
                           "16,0,64,bf16,bf16,5,\n");
  EXPECT_EQ(rows[0].status(), "ok");
  EXPECT_EQ(rows[1].status(), "flagged");
  EXPECT_GT(rows[1].predictedUs, 0);
  EXPECT_EQ(rows[2].status(), "no time");
  EXPECT_EQ(rows[3].status(), "dtype_a=q3: no such type");
  EXPECT_EQ(rows[4].status(), "column N: not a size from 1 to 2^31-1");
  EXPECT_TRUE(rows[0].counts());
  for (const std::size_t i : {1u, 2u, 3u, 4u}) {
    EXPECT_FALSE(rows[i].counts()) << i;
  }
}

TEST(ScoreRows, LeavingATermOutIsNoSlower) {
  const auto table = TextTable::parse(gemmTable(all("10")), "t.csv");
  const auto whole = scoreRows({*table}, uncalibrated());
  for (std::size_t term = 0; term < termCount; ++term) {
    TermSet without;
    without.set(term);
    const auto rows = scoreRows({*table}, uncalibrated(), without);
    for (std::size_t i = 0; i < rows->size(); ++i) {
      EXPECT_LE((*rows)[i].predictedUs, (*whole)[i].predictedUs * (1 + 1e-12)) << term;
    }
  }
}

TEST(ScoreRows, Buckets) {
  EXPECT_EQ(bucketOf(64), "<=64");
  EXPECT_EQ(bucketOf(65), "65-512");
  EXPECT_EQ(bucketOf(512), "65-512");
  EXPECT_EQ(bucketOf(513), "513-2047");
  EXPECT_EQ(bucketOf(2048), ">=2048");
}

TEST(ScoreReport, HasTheKeysOfTheContract) {
  const Json json = scoreJson(scored(gemmTable(all("0.1"))), 0.5, 0); // err 10%: counts
  for (const char *key : {"rows", "modelled", "mape", "median_ape", "p90_ape", "within10",
                          "within20", "coverage80", "seconds", "by", "ranking", "baselines"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  for (const char *key : {"dtype", "m_bucket", "family"}) {
    EXPECT_TRUE(json["by"].contains(key)) << key;
  }
  for (const char *key : {"groups", "top1_regret", "top5_regret", "tau"}) {
    EXPECT_TRUE(json["ranking"].contains(key)) << key;
  }
  EXPECT_TRUE(json["baselines"].contains("roofline"));
  EXPECT_EQ(json["by"]["m_bucket"]["<=64"]["rows"], 2);
}

TEST(ScoreReport, NothingCountedIsNull) {
  const Json json = scoreJson(scored("M,N,K,dtype_a,dtype_b\n16,64,64,bf16,bf16\n"), 0, 0);
  EXPECT_EQ(json["modelled"], 1);
  EXPECT_TRUE(json["mape"].is_null());
  EXPECT_TRUE(json["ranking"]["tau"].is_null());
}

} // namespace
} // namespace kw
