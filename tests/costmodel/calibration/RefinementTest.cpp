// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/calibration/Refinement.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace kw {
namespace {

/// Corrects nothing; half width 0.1.
class Flat final : public Calibration {
public:
  Correction correct(const ModelCase &) const override { return {0, 0.1}; }
};

ModelCase caseOf(const std::string &group, float logRows, const std::string &generator = "ck") {
  ModelCase c;
  c.family = "gemm";
  c.group = group;
  c.generator = generator;
  c.variant = "v3";
  c.analytic.timeUs = 10;
  c.features.assign(featureNames().size(), unknownFeature);
  c.features[featureIndex("log_rows")] = logRows;
  return c;
}

std::vector<OwnRun> runs(int count, double error, const std::string &group = "512x512") {
  std::vector<OwnRun> all;
  for (int i = 0; i < count; ++i) {
    all.push_back({caseOf(group, float(i % 8)), 10 * std::exp(error)});
  }
  return all;
}

TEST(RefinementTest, WithoutRunsItIsTheBase) {
  const Flat base;
  const Correction c = Refinement(base, {}).correct(caseOf("512x512", 3));
  EXPECT_EQ(c.log, 0);
  EXPECT_EQ(c.halfWidth80, 0.1);
}

TEST(RefinementTest, MoreRunsOfAShapeComeCloserAndNarrowTheInterval) {
  const Flat base;
  double before = 0.15, width = 0.1;
  for (const int count : {1, 4, 16}) {
    const Refinement refined(base, runs(count, 0.15));
    const Correction c = refined.correct(caseOf("512x512", 3));
    const double left = std::abs(0.15 - c.log);
    EXPECT_LT(left, before) << count;
    EXPECT_LT(c.halfWidth80, width) << count;
    before = left, width = c.halfWidth80;
  }
  EXPECT_LT(before, 0.03);
}

TEST(RefinementTest, OtherShapesAndOtherGeneratorsLearnLess) {
  const Flat base;
  const Refinement refined(base, runs(8, 0.15));
  const double same = refined.correct(caseOf("512x512", 3)).log;
  const double otherGenerator = refined.correct(caseOf("512x512", 3, "asm")).log;
  const double otherShape = refined.correct(caseOf("64x64", 3)).log;
  EXPECT_GT(same, otherGenerator);
  EXPECT_GT(otherGenerator, 0);
  EXPECT_GT(same, 2 * otherShape);
  ModelCase attention = caseOf("512x512", 3);
  attention.family = "attention";
  EXPECT_EQ(refined.correct(attention).log, 0);
}

TEST(RefinementTest, OneAbsurdRunDoesNotHurt) {
  const Flat base;
  const double clean = Refinement(base, runs(4, 0.1)).correct(caseOf("512x512", 3)).log;
  for (const double absurd : {std::log(0.001), std::log(0.2), std::log(5.0), std::log(1000.0)}) {
    for (std::size_t at = 0; at <= 4; ++at) {
      std::vector<OwnRun> some = runs(4, 0.1);
      some.insert(some.begin() + std::ptrdiff_t(at),
                  OwnRun{caseOf("512x512", 3), 10 * std::exp(absurd)});
      const double with = Refinement(base, some).correct(caseOf("512x512", 3)).log;
      EXPECT_NEAR(with, clean, 0.02) << absurd << " at " << at;
    }
  }
}

TEST(RefinementTest, AnAbsurdRunAloneMovesLittle) {
  const Flat base;
  for (const double absurd : {std::log(0.001), std::log(1000.0)}) {
    const std::vector<OwnRun> one{{caseOf("512x512", 3), 10 * std::exp(absurd)}};
    EXPECT_LT(std::abs(Refinement(base, one).correct(caseOf("512x512", 3)).log), 0.05);
  }
}

TEST(RefinementTest, TheLatestOfManyRunsCount) {
  const Flat base;
  std::vector<OwnRun> many = runs(int(Refinement::mostRuns), 0.0);
  for (OwnRun &late : runs(int(Refinement::mostRuns), 0.2)) {
    many.push_back(late);
  }
  EXPECT_NEAR(Refinement(base, many).correct(caseOf("512x512", 3)).log, 0.2, 0.02);
}

/// Of generators that nobody has measured.
class Unmeasured final : public Calibration {
public:
  Correction correct(const ModelCase &) const override { return unseenGenerator(0, 0.3); }
};

TEST(RefinementTest, RunsOfAnUnmeasuredGeneratorTeachOfAllItsShapes) {
  const Unmeasured base;
  const auto learnt = [&](const std::string &generator) {
    std::vector<OwnRun> all;
    for (int i = 0; i < 8; ++i) {
      all.push_back({caseOf(std::to_string(512 << i), 3, generator), 10 * std::exp(0.3)});
    }
    return Refinement(base, all).correct(caseOf("64x64", 3, "kw"));
  };
  const Correction own = learnt("kw"), others = learnt("ck");
  EXPECT_GT(own.log, 0.15);
  EXPECT_LT(own.log, 0.3);
  EXPECT_LT(others.log, own.log / 2);
  EXPECT_LT(own.halfWidth80, 0.27);
  EXPECT_LT(own.halfWidth80, others.halfWidth80);
  const std::vector<OwnRun> one{{caseOf("64x64", 3, "kw"), 10 * 20}};
  EXPECT_LT(Refinement(base, one).correct(caseOf("64x64", 3, "kw")).log, 0.25);
}

TEST(RefinementTest, WhatIsKnownWellMovesLess) {
  class Sure final : public Calibration {
  public:
    explicit Sure(double width) : width(width) {}
    Correction correct(const ModelCase &) const override { return {0, width}; }
    double width;
  };
  const Sure sure(0.05), unsure(0.4);
  const auto some = runs(2, 0.2);
  EXPECT_LT(Refinement(sure, some).correct(caseOf("512x512", 3)).log,
            Refinement(unsure, some).correct(caseOf("512x512", 3)).log);
}

} // namespace
} // namespace kw
