// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/calibration/ProblemCalibration.h"

#include "costmodel/CostModel.h"
#include "costmodel/OwnCase.h"
#include "costmodel/calibration/Calibration.h"
#include "tests/costmodel/Samples.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

using samples::gfx950;

/// Another launch time, and half as long again as the terms say.
class Slow final : public Calibration {
public:
  Target calibrated(const Target &target) const override {
    Target result = target;
    result.launchSeconds = 1.25e-6;
    return result;
  }
  Correction correct(const ModelCase &) const override { return {0.40625, 0.2}; }
};

const char *const problems[] = {
    "gemm m=256 n=4096 k=4096 dtype=bf16 b=nk",
    "grouped_gemm groups=8 tokens=64 topk=2 n=2048 k=1024 b=nk",
    "attention b=1 hq=8 hkv=1 sq=64 skv=4096 d=128",
    "rmsnorm rows=512 cols=4096",
    "topk rows=512 cols=4096 k=8",
};

TEST(ProblemCalibrationTest, KeepsWhatTheCalibrationSays) {
  const Slow slow;
  for (const char *text : problems) {
    const Problem problem = *parseProblem(text);
    const auto kept = problemCalibration(problem, Generator::kw, gfx950(), slow, "slow.json", 3);
    const auto read = parseProblemCalibration(nlohmann::json::parse(toJson(kept).dump()));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(toJson(*read), toJson(kept));
    EXPECT_EQ(read->name, "slow.json");
    EXPECT_EQ(read->ownRuns, 3u);
    EXPECT_EQ(read->calibrated(gfx950()).launchSeconds, 1.25e-6);
    EXPECT_EQ(read->correct({}).log, 0.40625);
  }
  const Problem problem = *parseProblem("gemm m=4096 n=4096 k=4096");
  const Schedule schedule = *parseSchedule("gemm.1:tile=256x256x64,waves=2x4");
  const auto kept = problemCalibration(problem, Generator::kw, gfx950(), slow, "slow.json");
  const Estimate direct = CostModel(problem, gfx950(), slow).estimate(schedule);
  const Estimate fromKept = CostModel(problem, gfx950(), kept).estimate(schedule);
  EXPECT_EQ(direct.timeUs, fromKept.timeUs);
  EXPECT_EQ(direct.highUs, fromKept.highUs);
}

TEST(ProblemCalibrationTest, NoneIsTheModelAlone) {
  const ProblemCalibration none;
  EXPECT_TRUE(none.isNone());
  const Problem problem = *parseProblem(problems[0]);
  const auto loaded = *loadCalibration("none");
  EXPECT_EQ(toJson(problemCalibration(problem, Generator::kw, gfx950(), *loaded, "none")),
            toJson(none));
  EXPECT_FALSE(problemCalibration(problem, Generator::kw, gfx950(), *loaded, "none", 1).isNone());
}

TEST(ProblemCalibrationTest, RefusesWhatItCannotKeep) {
  const auto said = [](const char *edit) {
    nlohmann::json json{{"name", "x"}, {"own_runs", 0}, {"log", 0.1}, {"half_width", 0.3}};
    json.merge_patch(nlohmann::json::parse(edit));
    const auto parsed = parseProblemCalibration(json);
    return parsed ? std::string() : parsed.error().message;
  };
  EXPECT_EQ(said("{}"), "");
  for (const char *edit :
       {R"({"log": null})", R"({"log": "long"})", R"({"name": 7})", R"({"own_runs": "some"})",
        R"({"constants": {"target": "gfx950", "values": {"launch": 1}}})",
        R"({"constants": {"target": "gfx950", "values": {"luck": 1}}})"}) {
    EXPECT_NE(said(edit), "") << edit;
  }
}

TEST(ProblemCalibrationTest, EveryFamilyHasAGroupAndASize) {
  std::vector<std::string> groups;
  for (const char *text : problems) {
    const ModelCase own = ownCase(*parseProblem(text));
    groups.push_back(own.group);
    EXPECT_GE(own.features.at(featureIndex("log_rows")), 0) << text;
  }
  EXPECT_EQ(groups,
            (std::vector<std::string>{"4096x4096", "2048x1024", "64x4096x128", "4096", "4096x8"}));
  // The two products of a layer are of one layer, as published rows name it.
  const char *const up = "grouped_gemm groups=8 tokens=64 topk=2 n=2048 k=4096 epilogue=swiglu";
  const char *const down = "grouped_gemm groups=8 tokens=64 topk=2 n=4096 k=1024";
  EXPECT_EQ(ownCase(*parseProblem(up)).group, "4096x1024");
  EXPECT_EQ(ownCase(*parseProblem(down)).group, "4096x1024");
  EXPECT_NE(ownCase(*parseProblem(up), Generator::triton).generator,
            ownCase(*parseProblem(up)).generator);
}

} // namespace
} // namespace kw
