// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Occupancy.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

const Target &gfx950() { return **findTarget("gfx950"); }

TEST(Occupancy, ByRegistersAsLlcPrints) { // gfx950.md 4.2
  const struct {
    int vgpr, waves;
  } rows[] = {{1, 8},   {64, 8},  {65, 7},  {72, 7},  {80, 6}, {96, 5},
              {128, 4}, {129, 3}, {168, 3}, {169, 2}, {256, 2}};
  for (const auto &row : rows) {
    EXPECT_EQ(occupancyByRegisters(gfx950(), row.vgpr, 0), row.waves) << row.vgpr;
  }
}

TEST(Occupancy, VgprsRoundToFourBeforeAgprsFollow) {
  EXPECT_EQ(occupancyByRegisters(gfx950(), 256, 256), 1);
  EXPECT_EQ(occupancyByRegisters(gfx950(), 125, 128), 2); // 128 + 128
  EXPECT_EQ(occupancyByRegisters(gfx950(), 129, 124), 2); // 132 + 124
  EXPECT_EQ(occupancyByRegisters(gfx950(), 129, 128), 1); // 132 + 128 > 256
}

TEST(Occupancy, TooManyRegistersDoNotFit) {
  EXPECT_EQ(occupancyByRegisters(gfx950(), 257, 0), 0);
  EXPECT_EQ(occupancyByRegisters(gfx950(), 10, 257), 0);
}

TEST(Occupancy, ByLdsAsLlcPrints) {
  EXPECT_EQ(workgroupsByLds(gfx950(), 40960), 4);
  EXPECT_EQ(workgroupsByLds(gfx950(), 65536), 2);
  EXPECT_EQ(workgroupsByLds(gfx950(), 81920), 2);
  EXPECT_EQ(workgroupsByLds(gfx950(), 163840), 1);
  EXPECT_EQ(workgroupsByLds(gfx950(), 163841), 0);
  // The granule: 40961 bytes take 42240.
  EXPECT_EQ(workgroupsByLds(gfx950(), 40961), 3);
  EXPECT_GT(workgroupsByLds(gfx950(), 0), 1000);
}

TEST(Occupancy, WholeWorkgroupsShareTheCu) {
  // 3 waves a SIMD hold 12 waves a CU: one workgroup of 8.
  EXPECT_EQ(workgroupsPerCu(gfx950(), 160, 0, 0, 8), 1);
  EXPECT_EQ(occupancy(gfx950(), 160, 0, 0, 8), 2);
  EXPECT_EQ(workgroupsPerCu(gfx950(), 160, 0, 0, 4), 3);
  EXPECT_EQ(workgroupsPerCu(gfx950(), 160, 0, 65536, 4), 2);
  // 8 waves at one wave a SIMD do not fit.
  EXPECT_EQ(workgroupsPerCu(gfx950(), 256, 256, 0, 8), 0);
  EXPECT_EQ(occupancy(gfx950(), 256, 256, 0, 8), 0);
  // Two waves use two SIMDs: rounded up.
  EXPECT_EQ(occupancy(gfx950(), 32, 0, 163840, 2), 1);
}

TEST(Occupancy, LargestWorkgroup) {
  EXPECT_EQ(workgroupsPerCu(gfx950(), 32, 0, 0, 16), 2);
  EXPECT_EQ(workgroupsPerCu(gfx950(), 32, 0, 0, 17), 0);
}

} // namespace
} // namespace kw
