// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/Trial.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(Trial, NamesAreTheContracts) {
  EXPECT_EQ(name(Rung::model), "model");
  EXPECT_EQ(name(Rung::compiled), "compiled");
  EXPECT_EQ(name(Rung::validated), "validated");
  EXPECT_EQ(name(Rung::simulated), "simulated");
  EXPECT_EQ(name(Rung::measured), "measured");
  EXPECT_EQ(name(TrialState::ok), "ok");
  EXPECT_EQ(name(TrialState::illegal), "illegal");
  EXPECT_EQ(name(TrialState::compileFailed), "compile_failed");
  EXPECT_EQ(name(TrialState::spilled), "spilled");
  EXPECT_EQ(name(TrialState::wrong), "wrong");
  EXPECT_EQ(name(TrialState::crashed), "crashed");
  EXPECT_EQ(name(TrialState::timeout), "timeout");
  EXPECT_EQ(name(TrialState::failed), "failed");
}

} // namespace
} // namespace kw
