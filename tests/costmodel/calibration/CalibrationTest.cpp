// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/calibration/Calibration.h"
#include "costmodel/CostModel.h"

#include "costmodel/Constants.h"
#include "costmodel/calibration/PhysicalConstants.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

using Json = nlohmann::json;

/// One tree, rows <= 4: -0.5, else 0.25; half width 0.2; an effect of generator "ck".
Json file() {
  const Json trees{{"roots", {0}}, {"input", {0}},  {"threshold", {2.0}},
                   {"left", {-1}}, {"right", {-2}}, {"leaves", {-0.5, 0.25}}};
  const Json width{{"roots", {0}}, {"input", {0}},  {"threshold", {0.0}},
                   {"left", {-1}}, {"right", {-1}}, {"leaves", {0.2}}};
  Json effect{{"of", {"generator"}}};
  effect["values"] = {{"ck", 0.1}};
  Json family{{"inputs", {"log_rows", "share:hbm", "log_us", "effect:0"}},
              {"trees", trees},
              {"width_trees", width}};
  family["effects"] = Json::array({effect});
  family["width_by_rows"] = {{"log_rows", Json::array({6.0})}, {"scale", {1.0, 2.0}}};
  family["generators"] = {{"ck", 100}};
  family["unseen"]["any"] = {{"log", 0.3}, {"half_width", 0.6}};
  family["unseen"]["by_dtype"]["bf16"] = {{"log", 0.4}, {"half_width", 0.5}};
  Json json{{"format", "kw-calibration"}, {"version", 1}};
  json["constants"] = {{"target", "gfx950"}};
  json["constants"]["values"] = {{"launch", 1.5e-6}};
  json["families"]["gemm"] = family;
  return json;
}

ModelCase caseOf(float logRows, std::string generator = "ck", std::string dtype = "bf16") {
  ModelCase c;
  c.family = "gemm";
  c.generator = std::move(generator);
  c.dtype = std::move(dtype);
  c.analytic.timeUs = 8;
  c.features.assign(featureNames().size(), unknownFeature);
  c.features[featureIndex("log_rows")] = logRows;
  return c;
}

std::unique_ptr<Calibration> parsed(const Json &json) {
  auto calibration = parseCalibration(json.dump(), "test");
  EXPECT_TRUE(calibration) << (calibration ? "" : calibration.error().message);
  return calibration ? std::move(*calibration) : nullptr;
}

TEST(CalibrationTest, EvaluatesTreesAndWidthsByRows) {
  const auto calibration = parsed(file());
  EXPECT_FLOAT_EQ(calibration->correct(caseOf(2)).log, -0.5);
  EXPECT_FLOAT_EQ(calibration->correct(caseOf(2.001F)).log, 0.25);
  EXPECT_FLOAT_EQ(calibration->correct(caseOf(unknownFeature)).log, -0.5);
  EXPECT_FLOAT_EQ(calibration->correct(caseOf(6)).halfWidth80, 0.2);
  EXPECT_FLOAT_EQ(calibration->correct(caseOf(7)).halfWidth80, 0.4);
}

TEST(CalibrationTest, AFusedOperatorIsTheSumOfItsKernels) {
  const auto calibration = parsed(file());
  ModelCase both = caseOf(2);
  both.analytic.timeUs = 24;
  both.parts = {caseOf(2), caseOf(5)};
  both.parts[1].analytic.timeUs = 16;
  const Correction c = calibration->correct(both);
  EXPECT_NEAR(24 * std::exp(c.log), 8 * std::exp(-0.5) + 16 * std::exp(0.25), 1e-6);
  EXPECT_FLOAT_EQ(c.halfWidth80, 0.2);
}

TEST(CalibrationTest, AKernelOfAnUnknownGeneratorIsCorrectedAsSuch) {
  const auto calibration = parsed(file());
  ModelCase both = caseOf(2);
  both.analytic.timeUs = 16;
  both.parts = {caseOf(2), caseOf(2, "new")};
  EXPECT_NEAR(16 * std::exp(calibration->correct(both).log), 8 * std::exp(-0.5) + 8 * std::exp(0.4),
              1e-6);
}

TEST(CalibrationTest, NearRunsCountInTimeAndInterval) {
  Json json = file();
  Json &family = json["families"]["gemm"];
  family["near_runs"] = {{"of", {"generator"}}, {"sizes", {"log_rows"}}, {"lengths", {1.0}}};
  family["near_runs"]["runs"]["ck"] = {3.0, 0.125};
  family["width_by_rows"]["near"] = 0.9;
  family["width_by_rows"]["scale_near"] = {0.5, 2.0};
  family["width_by_rows"]["scale_fused"] = {3.0, 3.0};
  family["inputs"].push_back("nearest_run");
  family["width_trees"] = {{"roots", {0}}, {"input", {4}},  {"threshold", {0.5}},
                           {"left", {-1}}, {"right", {-2}}, {"leaves", {0.4, 0.2}}};
  const auto calibration = parsed(json);
  const Correction near = calibration->correct(caseOf(3)), far = calibration->correct(caseOf(5));
  EXPECT_FLOAT_EQ(near.log, 0.25 + 0.125);
  EXPECT_NEAR(far.log, 0.25 + 0.125 * std::exp(-2.0), 1e-6);
  EXPECT_FLOAT_EQ(near.halfWidth80, 0.2 * 0.5);
  EXPECT_FLOAT_EQ(far.halfWidth80, 0.4);
  ModelCase fused = caseOf(3);
  fused.features[featureIndex("second_share")] = 0.5;
  EXPECT_FLOAT_EQ(calibration->correct(fused).halfWidth80, 0.2 * 3);
}

TEST(CalibrationTest, GeneratorWithoutRunsIsCorrectedByTypeAloneAndWider) {
  const auto calibration = parsed(file());
  for (const float rows : {0.0F, 5.0F, 15.0F}) {
    const Correction own = calibration->correct(caseOf(rows, "kw"));
    EXPECT_FLOAT_EQ(own.log, 0.4);
    EXPECT_FLOAT_EQ(own.halfWidth80, 0.5);
  }
  EXPECT_FLOAT_EQ(calibration->correct(caseOf(0, "kw", "mxfp4")).halfWidth80, 0.6);
}

TEST(CalibrationTest, GeneratorWithoutRunsKeepsTheAnalyticTimeFarFromAllRuns) {
  Json json = file();
  json["families"]["gemm"]["unseen"]["log_rows"] = {10.0, 14.0};
  json["families"]["gemm"]["unseen"]["new_type_half_width"] = 0.7;
  const auto calibration = parsed(json);
  for (const float rows : {9.0F, 12.0F, 15.0F}) {
    EXPECT_FLOAT_EQ(calibration->correct(caseOf(rows, "kw")).log, 0.4);
    EXPECT_FLOAT_EQ(calibration->correct(caseOf(rows, "kw")).halfWidth80, 0.5);
  }
  for (const float rows : {0.0F, 8.9F, 15.1F}) {
    EXPECT_EQ(calibration->correct(caseOf(rows, "kw")).log, 0);
    EXPECT_FLOAT_EQ(calibration->correct(caseOf(rows, "kw")).halfWidth80, 0.7);
  }
}

TEST(CalibrationTest, ShippedOneIsOfTheModelThatItCorrects) {
  const auto shipped = loadCalibration("shipped");
  ASSERT_TRUE(shipped) << shipped.error().message;
  EXPECT_EQ((*shipped)->fittedModel(), modelVersion());
  EXPECT_EQ(uncalibrated().fittedModel(), "");
}

TEST(CalibrationTest, TypeWithoutRunsIsAtLeastAsWideAsTypesDiffer) {
  Json json = file();
  json["families"]["gemm"]["unseen"]["new_type_half_width"] = 0.25;
  const auto calibration = parsed(json);
  EXPECT_FLOAT_EQ(calibration->correct(caseOf(6)).halfWidth80, 0.2);
  EXPECT_FLOAT_EQ(calibration->correct(caseOf(6, "ck", "mxfp4")).halfWidth80, 0.25);
  EXPECT_FLOAT_EQ(calibration->correct(caseOf(7, "ck", "mxfp4")).halfWidth80, 0.4);
}

TEST(CalibrationTest, FamilyWithoutRowsKeepsTheAnalyticTimeAndThePrior) {
  ModelCase c = caseOf(2);
  c.family = "topk";
  EXPECT_EQ(parsed(file())->correct(c).log, 0);
  EXPECT_EQ(parsed(file())->correct(c).halfWidth80, constants::logSpread80);
}

TEST(CalibrationTest, ConstantsOfItsTargetAlone) {
  const auto calibration = parsed(file());
  EXPECT_EQ(calibration->calibrated(**findTarget("gfx950")).launchSeconds, 1.5e-6);
  EXPECT_EQ(calibration->calibrated(**findTarget("gfx942")).launchSeconds,
            (*findTarget("gfx942"))->launchSeconds);
}

TEST(CalibrationTest, PriorsOfTheTargetLieWithinTheBounds) {
  const Target &target = **findTarget("gfx950");
  for (const PhysicalConstant &constant : physicalConstants()) {
    EXPECT_GE(target.*constant.field, constant.least) << constant.name;
    EXPECT_LE(target.*constant.field, constant.most) << constant.name;
  }
}

TEST(CalibrationTest, ShippedOneIsRead) {
  const auto shipped = loadCalibration("shipped");
  ASSERT_TRUE(shipped) << shipped.error().message;
  EXPECT_TRUE(loadCalibration("none"));
}

struct Damage {
  const char *pointer; ///< of the value that is replaced
  Json value;
  const char *named; ///< in the message
};

TEST(CalibrationTest, BadFilesAreRefusedByName) {
  const Damage damages[] = {
      {"/format", "other", "kw-calibration"},
      {"/version", 2, "version 2"},
      {"/families", 3, "families"},
      {"/constants/values/launch", 1.0, "launch"},
      {"/constants/values/warp", 1.0, "warp"},
      {"/families/gemm/inputs/0", "colour", "colour"},
      {"/families/gemm/unseen/log_rows", Json::array({1.0}), "log_rows"},
      {"/families/gemm/inputs/3", "effect:1", "effect:1"},
      {"/families/gemm/inputs/1", "share:warp", "share:warp"},
      {"/families/gemm/effects/0/of/0", "moon", "moon"},
      {"/families/gemm/trees/left/0", 0, "node 0"},
      {"/families/gemm/trees/left/0", 7, "node 0"},
      {"/families/gemm/trees/right/0", -3, "node 0"},
      {"/families/gemm/trees/input/0", 4, "node 0"},
      {"/families/gemm/trees/roots/0", 1, "root"},
      {"/families/gemm/trees/threshold", Json::array(), "equal length"},
      {"/families/gemm/width_by_rows/scale/1", "wide", "must be number"},
      {"/families/gemm/width_by_rows/scale", Json::array({1.0}), "scale"},
      {"/families/gemm/width_by_rows/scale_near", Json::array({1.0}), "scale"},
      {"/families/gemm/near_runs", Json::object(), "of"},
      {"/families/gemm/unseen/any", Json::object(), "log"},
  };
  for (const Damage &damage : damages) {
    Json json = file();
    json[Json::json_pointer(damage.pointer)] = damage.value;
    const auto calibration = parseCalibration(json.dump(), "test");
    ASSERT_FALSE(calibration) << damage.pointer;
    EXPECT_NE(calibration.error().message.find(damage.named), std::string::npos)
        << calibration.error().message;
  }
  EXPECT_FALSE(parseCalibration("{", "test"));
  EXPECT_FALSE(loadCalibration("/no/such/file"));
}

} // namespace
} // namespace kw
