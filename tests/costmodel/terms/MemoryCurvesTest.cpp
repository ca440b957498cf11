// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(MemoryCurves, RampRisesToOne) {
  double previous = 0;
  for (int cus = 1; cus <= 400; ++cus) {
    EXPECT_GE(bandwidthRamp(cus), previous);
    previous = bandwidthRamp(cus);
  }
  EXPECT_EQ(bandwidthRamp(256), 1);
  EXPECT_EQ(bandwidthRamp(400), 1);
  EXPECT_NEAR(bandwidthRamp(128), 0.72 / 0.985, 0.01);
}

TEST(MemoryCurves, ColdLoadsTakeLongerThanTheMeasuredRoundTrip) {
  Target target = samples::gfx950();
  EXPECT_EQ(coldRoundTripCycles(target), 1500); // 800 of HBM in place of the L2's 300
  target.hbmLatencyCycles = target.l2LatencyCycles;
  EXPECT_EQ(coldRoundTripCycles(target), 1000);
}
