// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/KernelProfile.h"
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

namespace {

/// bf16 GEMM 4096 x 4096 x 512, tile 256 x 128 x 64, by hand: 16 x 32 tiles, 8 steps.
struct Sample {
  LaunchPlan launch;
  std::vector<LoopSummary> loops{3};
  ProblemFacts facts;

  Sample() {
    launch.waves = 4;
    launch.workgroups = 512;
    launch.tileM = 256;
    launch.tileN = 128;
    launch.mapping.tilesM = 16;
    launch.mapping.tilesN = 32;
    launch.mapping.xcds = 8;
    launch.mapping.groupM = 4;
    WorkgroupKind kind;
    kind.count = 512;
    kind.trips = {1, 8, 1};
    kind.usefulM = 256;
    kind.usefulN = 128;
    launch.kinds = {kind};
    launch.regions = {
        {RegionKind::prologue, 0, 1}, {RegionKind::mainLoop, 0, 2}, {RegionKind::epilogue, 0, 3}};
    add(TileOperand::a, 256, 128, 1024, true, false, true);
    add(TileOperand::b, 128, 128, 1024, true, true, false);
    add(TileOperand::c, 256, 256, 8192, false, true, true);
    launch.traffic[0].byTileM = launch.traffic[1].byTileN = true;
    launch.traffic[0].byTileN = launch.traffic[1].byTileM = false;
    launch.traffic[2].write = true;
    launch.ldsBytes = 2 * (256 + 128) * 128;
    launch.registers.accumulators = 128;
    launch.registers.fragments = 100;
    loops[0].length = 400;
    loops[0].loads = 24;
    loops[1].use.matrix = 1024;
    loops[1].use.lds = 100;
    loops[1].recurrence = 1100;
    loops[1].loads = 12;
    loops[1].maxAhead = 2;
    loops[1].barriers = 1;
    loops[2].length = 300;
    facts.flops = 2.0 * 4096 * 4096 * 512;
    facts.inputBytes = 2.0 * 4096 * 512 * 2;
    facts.compulsoryBytes = facts.inputBytes + 4096.0 * 4096 * 2;
  }

  void add(TileOperand operand, int rows, int bytes, int pitch, bool perTrip, bool m, bool n) {
    TileTraffic traffic;
    traffic.operand = operand;
    traffic.rows = rows;
    traffic.bytesPerRow = bytes;
    traffic.pitchBytes = pitch;
    traffic.perTrip = perTrip;
    traffic.byTileM = m;
    traffic.byTileN = n;
    launch.traffic.push_back(traffic);
  }

  LaunchProfile profile(const Target &target = samples::gfx950(),
                        ReadsFrom source = ReadsFrom::inputs) const {
    TileReuse reuse;
    return profileLaunch(launch, loops, facts, target, reuse, source);
  }
};

} // namespace

TEST(KernelProfile, CountsRegionsByTheirTrips) {
  const LaunchProfile profile = Sample().profile();
  EXPECT_EQ(profile.matrixCycles, 8 * 1024);
  EXPECT_EQ(profile.ldsCycles, 800);
  EXPECT_EQ(profile.chainCycles, 8 * 1100);
  EXPECT_EQ(profile.prefetchedTrips, 4);
  EXPECT_EQ(profile.chainedLoads, 0);
  EXPECT_EQ(profile.barriers, 8);
  EXPECT_EQ(profile.prologueCycles, 400);
  EXPECT_EQ(profile.startLoads, 1);
  EXPECT_EQ(profile.epilogueCycles, 300);
}

TEST(KernelProfile, LoadsWithoutPrefetchStandInTheChain) {
  Sample sample;
  sample.loops[1].maxAhead = 0;
  EXPECT_EQ(sample.profile().chainedLoads, 8);
  EXPECT_EQ(sample.profile().prefetchedTrips, 0);
}

TEST(KernelProfile, ResidentWorkgroupsByTheTightestLimit) {
  Sample sample;
  EXPECT_EQ(sample.profile().workgroupsPerCu, 1); // 98,304 bytes of LDS
  sample.launch.ldsBytes /= 2;
  EXPECT_EQ(sample.profile().workgroupsPerCu, 2); // 228 registers
  sample.launch.registers.accumulators = 300;
  sample.launch.registers.accumulatorsInAgpr = true;
  EXPECT_EQ(sample.profile().workgroupsPerCu, 1);
}

TEST(KernelProfile, BytesPerLevel) {
  const LaunchProfile profile = Sample().profile();
  EXPECT_EQ(profile.loadBytes, 8.0 * (256 + 128) * 128);
  EXPECT_EQ(profile.l2ReadBytes, 512 * profile.loadBytes);
  // 32 tiles of an XCD, groups of 4 rows: 4 rows x 8 columns.
  EXPECT_EQ(profile.mallReadBytes, 512 / 32 * 8.0 * (4 * 256 + 8 * 128) * 128);
  EXPECT_EQ(profile.hbmReadBytes, 2.0 * 4096 * 512 * 2);
  EXPECT_EQ(profile.writtenBytes, 4096.0 * 4096 * 2);
}

TEST(KernelProfile, StoresByTheirWidthAndMovesOutOfAgprs) {
  Sample sample;
  sample.launch.traffic[2].vectorBytes = 2;
  EXPECT_EQ(sample.profile().storeInstructions, 256 * 256 / 128.0);
  sample.launch.traffic[2].vectorBytes = 8;
  EXPECT_EQ(sample.profile().storeInstructions, 256 * 256 / 512.0);
  sample.launch.registers.accumulatorsInAgpr = true;
  EXPECT_EQ(sample.profile().epilogueCycles, 300 + 128 * 4);
}

TEST(KernelProfile, RaggedTilesMoveWhatIsInside) {
  Sample sample;
  sample.launch.kinds[0].usefulM = 64; // of 256
  sample.facts.inputBytes = 1e12;
  EXPECT_EQ(sample.profile().loadBytes, 8.0 * (64 + 128) * 128);
  EXPECT_EQ(sample.profile().writtenBytes, 512 * 64 * 256.0);
}

TEST(KernelProfile, MaskedStepsMoveNothing) {
  Sample sample;
  sample.facts.inputBytes -= 512.0 * 4096; // k = 384 of 512
  EXPECT_EQ(sample.profile().loadBytes, 6.0 * (256 + 128) * 128);
}

TEST(KernelProfile, NarrowAndMisalignedRowsCostWholeRequests) {
  Sample sample;
  const double aligned = sample.profile().loadBytes;
  sample.launch.traffic[0].pitchBytes = 1026; // 2-byte aligned: 128 bytes touch 2.97 requests
  EXPECT_NEAR(sample.profile().loadBytes - aligned, 8.0 * 256 * 64 * (1 - 2 / 64.0), 1e-6);
}

TEST(KernelProfile, OperandsBeyondTheInfinityCacheAreReadAgain) {
  Sample sample;
  Target small = samples::gfx950();
  small.mallBytes = 1 << 20;
  const LaunchProfile profile = sample.profile(small);
  EXPECT_GT(profile.hbmReadBytes, 2.0 * 4096 * 512 * 2);
  EXPECT_LE(profile.hbmReadBytes, profile.mallReadBytes);
}

TEST(KernelProfile, WhatIsReadTwiceComesFromTheInfinityCache) {
  Sample sample;
  const LaunchProfile once = sample.profile();
  sample.launch.traffic.push_back(sample.launch.traffic[0]); // A again
  const LaunchProfile twice = sample.profile();
  const double again = 8.0 * 256 * 128;
  EXPECT_EQ(twice.loadBytes, once.loadBytes + again);
  EXPECT_EQ(twice.mallReadBytes, once.mallReadBytes + 512 * again);
  EXPECT_EQ(twice.hbmReadBytes, once.hbmReadBytes);
}

TEST(KernelProfile, AnEpilogueThatIteratesIsALoop) {
  Sample sample;
  sample.launch.kinds[0].trips[2] = 5;
  sample.loops[2].recurrence = 30;
  EXPECT_EQ(sample.profile().chainCycles, 8 * 1100 + 5 * 30);
  EXPECT_EQ(sample.profile().epilogueCycles, 0);
}

TEST(KernelProfile, MeansOverKinds) {
  Sample sample;
  sample.launch.kinds[0].count = 384;
  WorkgroupKind shorter = sample.launch.kinds[0];
  shorter.count = 128;
  shorter.trips[1] = 4;
  sample.launch.kinds.push_back(shorter);
  EXPECT_EQ(sample.profile().matrixCycles, 7 * 1024);
}

TEST(KernelProfile, ABetterMachineAsksNoMoreOfAnyLevel) {
  const LaunchProfile before = Sample().profile();
  for (const samples::Improvement &improvement : samples::improvements()) {
    Target better = samples::gfx950();
    improvement.apply(better);
    const LaunchProfile after = Sample().profile(better);
    EXPECT_LE(after.mallReadBytes, before.mallReadBytes) << improvement.what;
    EXPECT_LE(after.hbmReadBytes, before.hbmReadBytes) << improvement.what;
  }
}

/// A second launch reads what the first has written, however much or little the inputs are.
TEST(KernelProfile, WorkspacesComeFromTheInfinityCache) {
  Sample sample;
  const double read = 2.0 * 4096 * 512 * 2;
  for (const double inputs : {1e3, 1e12}) {
    sample.facts.inputBytes = inputs;
    const LaunchProfile profile = sample.profile(samples::gfx950(), ReadsFrom::workspace);
    EXPECT_EQ(profile.loadBytes, 8.0 * (256 + 128) * 128);
    EXPECT_GE(profile.mallReadBytes, read);
    EXPECT_EQ(profile.hbmReadBytes, 0);
  }
  Target small = samples::gfx950();
  small.mallBytes = 1 << 20;
  EXPECT_GE(sample.profile(small, ReadsFrom::workspace).hbmReadBytes, read);
}

/// Splits of a head share its queries: they count once among the unique bytes.
TEST(KernelProfile, TilesThatShareBytesCountThemOnce) {
  Sample sample;
  sample.launch.traffic[0].byTileN = true; // each tile its own ...
  sample.facts.inputBytes = (256.0 * 16 * 4 + 128.0 * 32) * 128 * 8;
  sample.launch.traffic[0].shareN = 8; // ... shared by 8 of 32 columns
  EXPECT_EQ(sample.profile().loadBytes, 8.0 * (256 + 128) * 128);
  sample.launch.traffic[0].shareN = 1;
  EXPECT_LT(sample.profile().loadBytes, 8.0 * (256 + 128) * 128);
}
