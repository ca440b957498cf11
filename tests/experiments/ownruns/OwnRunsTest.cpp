// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/ownruns/OwnRuns.h"

#include "costmodel/CostModel.h"
#include "costmodel/OwnCase.h"
#include "experiments/import/ImportedTimings.h"
#include "experiments/ownruns/LearningCurve.h"
#include "search/Space.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

namespace kw {
namespace {

namespace fs = std::filesystem;

const Target &gfx950() { return **findTarget("gfx950"); }

constexpr const char *problemText = "gemm m=256 n=4096 k=4096 b=nk";

/// A legal schedule of the problem.
std::string someSchedule() {
  static const std::string text =
      print(Space(*parseProblem(problemText), gfx950()).sample(1, 0).front());
  return text;
}

class OwnRunsTest : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / fmt::format("kw-own-runs-{}", getpid());
    fs::remove_all(folder);
    fs::create_directories(folder);
    auto opened = Store::open(folder / "kw.db", Store::Access::write);
    ASSERT_TRUE(opened) << opened.error().message;
    store.emplace(std::move(*opened));
  }
  void TearDown() override {
    store.reset();
    fs::remove_all(folder);
  }

  void measured(const std::string &device, const std::string &arch, double us,
                const std::string &schedule = someSchedule()) {
    ResultRecord record;
    record.rung = Rung::measured;
    record.key = fmt::format("{} {} {} {}", device, arch, us, schedule);
    record.value = {{"problem", problemText},
                    {"schedule", schedule},
                    {"time_us", us},
                    {"device", device},
                    {"arch", arch}};
    ASSERT_TRUE(store->keep(record, device, Json::object()));
  }

  void imported(const std::string &csv) {
    const auto table = TextTable::parse(csv, "t.csv");
    ASSERT_TRUE(table);
    const auto timings = importedTimings(*table, ImportFormat::automatic);
    ASSERT_TRUE(timings);
    ASSERT_TRUE(timings->bad.empty()) << timings->bad.front().error;
    ASSERT_TRUE(store->import(timings->timings));
  }

  /// The runs of GEMM, latest first.
  std::vector<OwnRun> read(OwnRunsRequest request = {}) {
    request.target = request.target ? request.target : &gfx950();
    auto runs = OwnRuns::read(*store, uncalibrated(), request);
    EXPECT_TRUE(runs);
    return runs ? runs->choose("gemm", "", 100) : std::vector<OwnRun>();
  }

  fs::path folder;
  std::optional<Store> store;
};

TEST_F(OwnRunsTest, MeasuredRunsOfTheTargetCount) {
  measured("mine", "gfx950:sramecc+:xnack-", 100);
  measured("theirs", "gfx950", 110);
  measured("old", "gfx942", 120);
  measured("mine", "gfx950", 130, "");                  // a kernel of no schedule of ours
  measured("mine", "gfx950", 140, "gemm.1:tile=7x7x7"); // of an earlier version
  const auto runs = read();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[1].measuredUs, 100);
  EXPECT_EQ(runs[0].modelCase.generator, "kw");
  EXPECT_EQ(runs[0].modelCase.group, "4096x4096");
  const Problem problem = *parseProblem(problemText);
  EXPECT_EQ(runs[0].modelCase.analytic.timeUs,
            CostModel(problem, gfx950()).timeUs(*parseSchedule(someSchedule())));
  EXPECT_EQ(read({.device = "theirs"}).size(), 1u);
  EXPECT_EQ(read({.device = "nobody"}).size(), 0u);
  EXPECT_EQ(read({.target = *findTarget("gfx942")}).size(), 0u); // illegal there or not its own
}

TEST_F(OwnRunsTest, ImportedRunsOfSchedulesCount) {
  imported(fmt::format("problem,schedule,time_us,device,target\n"
                       "{0},\"{1}\",90,mine,gfx950\n"
                       "{0},\"{1}\",95,,\n"
                       "{0},,80,mine,\n"
                       "{0},\"{1}\",85,mine,gfx942\n",
                       problemText, someSchedule()));
  const auto runs = read();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].measuredUs + runs[1].measuredUs, 185);
  EXPECT_EQ(read({.device = "mine"}).size(), 1u);
}

constexpr const char *published =
    "gfx,cu_num,op,dtype_a,dtype_b,dtype_out,scale,M,N,K,kernel_family,kernel_name,block_threads,"
    "us,flags\n"
    "gfx950,256,gemm,bf16,bf16,bf16,,64,4096,4096,asm_bf16,_ZN5aiter9x_tn_64x64E,256,12.5,\n"
    "gfx950,256,gemm,fp8,fp8,bf16,rowwise,4096,4096,4096,ck,,,60,\n"
    "gfx950,256,gemm,fp8,fp8,bf16,rowwise,2048,4096,4096,ck,,,50,hbm\n"
    "gfx942,304,gemm,bf16,bf16,bf16,,64,4096,4096,ck,,,20,\n";

TEST_F(OwnRunsTest, PublishedRowsAreTheCasesThatTheyWere) {
  imported(published);
  const auto runs = read();
  ASSERT_EQ(runs.size(), 2u); // not the flagged one, not another GPU's
  const auto rows = *measuredRows(*TextTable::parse(published, "t.csv"));
  ForeignModel model;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const ModelCase direct = *model.estimate(rows[runs.size() - 1 - i]);
    EXPECT_EQ(runs[i].modelCase.analytic.timeUs, direct.analytic.timeUs);
    EXPECT_EQ(runs[i].modelCase.kernel, direct.kernel);
    EXPECT_EQ(runs[i].modelCase.group, direct.group);
    EXPECT_EQ(runs[i].modelCase.dtype, direct.dtype);
  }
  EXPECT_EQ(read({.device = "mine"}).size(), 0u);
  // What a scored table holds itself doesn't count.
  EXPECT_EQ(read({.without = {identityOf(rows[0])}}).size(), 1u);
}

TEST(StoredRow, HasAllThatTheModelReads) {
  const char *const tables[] = {
      published,
      "gfx,cu_num,token,model_dim,inter_dim,expert,topk,act,dtype_a,dtype_w,q_type,g1u1,block_m,"
      "run_1stage,us,kernel1,fam1,tile_m1,tile_n1,tile_k1,kernel2,fam2,tile_m2,tile_n2,tile_k2\n"
      "gfx950,256,64,4096,1536,128,8,Silu,bf16,bf16,No,1,128,0,80,one,ck,128,64,64,two,ck,128,128,"
      "64\n",
      "gfx,op,dtype,B,Hq,Hkv,Sq,Skv,D,causal,impl,us\n"
      "gfx950,attn_fwd,bf16,2,32,8,4096,4096,128,1,ck,700\n",
  };
  for (const char *text : tables) {
    const auto table = TextTable::parse(text, "t.csv");
    const auto rows = measuredRows(*table);
    if (!rows) {
      ADD_FAILURE() << rows.error().message;
      continue;
    }
    const auto timings = importedTimings(*table, ImportFormat::aiter);
    ASSERT_EQ(timings->timings.size(), rows->size());
    ForeignModel model;
    for (std::size_t i = 0; i < rows->size(); ++i) {
      const auto stored = storedRow(timings->timings[i].value);
      ASSERT_TRUE(stored) << stored.error().message;
      EXPECT_EQ(identityOf(*stored), identityOf((*rows)[i]));
      const auto direct = model.estimate((*rows)[i]), kept = model.estimate(*stored);
      ASSERT_EQ(bool(direct), bool(kept));
      ASSERT_TRUE(direct) << direct.error().message;
      EXPECT_EQ(direct->analytic.timeUs, kept->analytic.timeUs) << text;
      EXPECT_EQ(direct->family, familyOf(*stored));
      EXPECT_EQ(direct->group, groupOf(*stored));
    }
  }
  EXPECT_FALSE(storedRow(Json::object()));
  EXPECT_FALSE(storedRow({{"problem", {{"op", 7}}}, {"kernels", Json::array()}}));
}

TEST_F(OwnRunsTest, OfManyRunsThoseOfTheShapeComeFirst) {
  std::string table = "problem,schedule,time_us\n";
  const auto add = [&](int count, const std::string &text, double factor) {
    const Problem problem = *parseProblem(text);
    const Schedule schedule = Space(problem, gfx950()).sample(1, 0).front();
    const double us = CostModel(problem, gfx950()).timeUs(schedule);
    for (int i = 0; i < count; ++i) { // times that differ a little: else it is one run
      table += fmt::format("{},\"{}\",{}\n", text, print(schedule), factor * us * (1 + 1e-6 * i));
    }
  };
  add(8, problemText, 1.5);
  add(int(Refinement::mostRuns), "gemm m=64 n=64 k=64", 1.0);
  imported(table);
  auto runs = OwnRuns::read(*store, uncalibrated(), {.target = &gfx950()});
  ASSERT_TRUE(runs);
  EXPECT_EQ(runs->size(), Refinement::mostRuns + 8);
  const auto chosen = runs->choose("gemm", "4096x4096", 10);
  ASSERT_EQ(chosen.size(), 10u);
  EXPECT_EQ(std::ranges::count_if(
                chosen, [](const OwnRun &run) { return run.modelCase.group == "4096x4096"; }),
            8);
  EXPECT_TRUE(runs->choose("rmsnorm", "64", 10).empty());
  const OwnRunsCalibration calibration(uncalibrated(), std::move(*runs));
  const ModelCase same = ownCase(*parseProblem(problemText));
  const ModelCase other = ownCase(*parseProblem("gemm m=64 n=128 k=128"));
  EXPECT_GT(calibration.correct(same).log, calibration.correct(other).log + 0.05);
  EXPECT_EQ(calibration.countFor(same), Refinement::mostRuns);
  EXPECT_EQ(calibration.countFor(ownCase(*parseProblem("rmsnorm rows=4 cols=64"))), 0u);
}

/// 40 rows of each of six shapes: a bias a shape, and noise.
std::vector<ScoredRow> shapes(double bias, double noise) {
  std::vector<ScoredRow> rows;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (int shape = 0; shape < 6; ++shape) {
    const double own = bias * (shape % 2 == 0 ? 1 : -1);
    for (int i = 0; i < 40; ++i) {
      ScoredRow &row = rows.emplace_back();
      row.modelCase = ownCase(*parseProblem(problemText));
      row.modelCase->analytic.timeUs = 10;
      row.modelCase->group = fmt::format("{}x64", shape);
      row.predictedUs = 10;
      row.lowUs = 10 * std::exp(-0.2), row.highUs = 10 * std::exp(0.2);
      row.time.us = 10 * std::exp(own + noise * normal(random));
    }
  }
  return rows;
}

TEST(LearningCurveTest, RunsOfAShapeHelpAndAnAbsurdOneDoesNotHurt) {
  const Json json = learningCurve(shapes(0.15, 0.03), {.runs = {4, 16, 1000}});
  ASSERT_EQ(json["gemm"].size(), 2u); // no shape has 1,000 rows
  double last = 1;
  for (const Json &entry : json["gemm"]) {
    EXPECT_EQ(entry["groups"], 6);
    EXPECT_EQ(entry["rows"], 6 * (40 - entry["runs"].get<int>()));
    const double before = entry["mape"]["before"], after = entry["mape"]["after"];
    EXPECT_LT(after, 0.6 * before);
    EXPECT_LT(after, last);
    EXPECT_LT(entry["mape"]["after_absurd"], 0.7 * before);
    last = after;
  }
}

TEST(LearningCurveTest, NoTimeOfAJudgedRowHelps) {
  // Nothing to be learnt: whoever gets better has seen the answers.
  const Json json = learningCurve(shapes(0, 0.1), {.runs = {4, 16}});
  for (const Json &entry : json["gemm"]) {
    EXPECT_GT(entry["mape"]["after"], 0.97 * entry["mape"]["before"].get<double>());
    EXPECT_LT(entry["mape"]["after"], 1.15 * entry["mape"]["before"].get<double>());
  }
  EXPECT_EQ(learningCurve(shapes(0, 0.1), {.runs = {4}, .seed = 3}),
            learningCurve(shapes(0, 0.1), {.runs = {4}, .seed = 3}));
}

} // namespace
} // namespace kw
