// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/calibration/NearRuns.h"

#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

using Json = nlohmann::json;

/// Kernel "a" of "ck": runs at rows 2^4, n 2^10 (weight 0.3) and rows 2^8, n 2^10 (-0.1).
Json file() {
  Json json{{"of", {"generator", "kernel"}}, {"sizes", {"log_rows", "log_n"}}};
  json["lengths"] = {2.0, 1.0};
  json["runs"]["ck|a"] = {4, 10, 0.3, 8, 10, -0.1};
  return json;
}

ModelCase caseOf(float logRows, float logN, std::string kernel = "a") {
  ModelCase c;
  c.generator = "ck";
  c.kernel = std::move(kernel);
  c.features.assign(featureNames().size(), unknownFeature);
  c.features[featureIndex("log_rows")] = logRows;
  c.features[featureIndex("log_n")] = logN;
  return c;
}

TEST(NearRunsTest, RunsCountTheLessTheFurtherTheirSizes) {
  const auto near = NearRuns::parse(file());
  ASSERT_TRUE(near) << near.error().message;
  const NearRuns::Answer there = near->at(caseOf(4, 10));
  EXPECT_NEAR(there.log, 0.3 - 0.1 * std::exp(-2.0), 1e-6);
  EXPECT_NEAR(there.likeness, 1, 1e-6);
  // 3 octaves of rows and 2 of n from the first, 1 and 2 from the second.
  const double first = std::exp(-std::hypot(1.5, 2.0)), second = std::exp(-std::hypot(0.5, 2.0));
  const NearRuns::Answer between = near->at(caseOf(7, 12));
  EXPECT_NEAR(between.log, 0.3 * first - 0.1 * second, 1e-6);
  EXPECT_NEAR(between.likeness, second, 1e-6);
  EXPECT_NEAR(near->at(caseOf(4, 60)).log, 0, 1e-9);
}

TEST(NearRunsTest, KernelOrSizeThatIsUnknownHasNoRuns) {
  const auto near = NearRuns::parse(file());
  ASSERT_TRUE(near);
  for (const ModelCase &c : {caseOf(4, 10, "b"), caseOf(unknownFeature, 10)}) {
    EXPECT_NEAR(near->at(c).log, 0, 1e-9);
    EXPECT_NEAR(near->at(c).likeness, 0, 1e-9);
  }
  EXPECT_EQ(NearRuns().at(caseOf(4, 10)).likeness, 0);
}

TEST(NearRunsTest, BadFilesAreRefusedByName) {
  struct {
    const char *pointer;
    Json value;
    const char *named;
  } const damages[] = {
      {"/of/0", "moon", "moon"},
      {"/sizes/1", "colour", "colour"},
      {"/lengths/0", 0, "above 0"},
      {"/lengths", Json::array({1.0}), "a length a size"},
      {"/runs/ck|a", Json::array({1, 2, 3, 4}), "ck|a"},
      {"/runs/ck|a", Json::array(), "ck|a"},
      {"/runs/ck|a/2", 1e39, "ck|a"},
  };
  for (const auto &damage : damages) {
    Json json = file();
    json[Json::json_pointer(damage.pointer)] = damage.value;
    const auto near = NearRuns::parse(json);
    ASSERT_FALSE(near) << damage.pointer;
    EXPECT_NE(near.error().message.find(damage.named), std::string::npos) << near.error().message;
  }
}

} // namespace
} // namespace kw
