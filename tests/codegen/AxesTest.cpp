// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every decision of a schedule changes the code and the resource that it claims to change: each
// test compares a schedule with one that differs in one decision.

#include "codegen/Compile.h"
#include "codegen/Disassembly.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace kw;

namespace {

struct Kernel {
  KernelResources resources;
  KernelDisassembly code;
  std::uint32_t workItems = 0;
  std::vector<std::uint8_t> hsaco;

  int count(InstructionClass kind) const { return code.counts()[kind]; }
  /// In the largest loop.
  ClassCounts inLoop() const {
    ClassCounts largest;
    for (const MachineLoop &loop : code.loops()) {
      if (const ClassCounts counts = code.counts(loop); counts.total() > largest.total()) {
        largest = counts;
      }
    }
    return largest;
  }
  int countMnemonic(std::string_view mnemonic) const {
    return static_cast<int>(std::count_if(
        code.instructions.begin(), code.instructions.end(),
        [&](const Instruction &instruction) { return instruction.mnemonic() == mnemonic; }));
  }
};

Kernel build(const char *problem, const std::string &schedule) {
  const auto parsed = parseSchedule(schedule);
  EXPECT_TRUE(parsed.has_value()) << schedule;
  const auto compiled = compile(*parseProblem(problem), *parsed, **findTarget("gfx950"));
  if (!compiled) {
    ADD_FAILURE() << schedule << ": " << compiled.error().message;
    return {};
  }
  return {compiled->object.kernels[0], disassemble(compiled->object.hsaco)->front(),
          compiled->object.manifest.launches[0].block[0], compiled->object.hsaco};
}

Kernel gemm(const std::string &decisions) {
  return build("gemm m=4096 n=4096 k=4096 dtype=bf16 b=nk", "gemm.1:" + decisions);
}

Kernel norm(const std::string &decisions) {
  return build("rmsnorm rows=4096 cols=8192 dtype=bf16", "rmsnorm.1:" + decisions);
}

constexpr std::int64_t elementBytes = 2;

} // namespace

TEST(GemmPackedWeights, GoStraightToRegisters) {
  const Kernel kernel = build("gemm m=4096 n=4096 k=4096 dtype=bf16 b=nk preshuffle=1",
                              "gemm.1:tile=128x128x64,b=registers");
  constexpr int stages = 2;
  EXPECT_EQ(kernel.resources.ldsBytes, stages * 128 * 64 * elementBytes); // of a alone
  // A wave has 4 x 4 fragments in two slices: 4 loads of its part of a, 8 fragments of b; 8 reads.
  EXPECT_EQ(kernel.inLoop()[InstructionClass::ldsDma], stages * 4);
  EXPECT_EQ(kernel.inLoop()[InstructionClass::vmemLoad], stages * 8);
  EXPECT_EQ(kernel.inLoop()[InstructionClass::ldsRead], stages * 8);
}

TEST(GemmOrders, ATurnedByTransposingReads) {
  const Kernel turned =
      build("gemm m=4096 n=4096 k=4096 dtype=bf16 a=km b=nk", "gemm.1:tile=128x128x64");
  EXPECT_GT(turned.countMnemonic("ds_read_b64_tr_b16"), 0);
  const Kernel bytes = build("gemm m=4096 n=4096 k=4096 dtype=i8 out=i32 a=km b=nk",
                             "gemm.1:tile=128x128x128,mfma=16x16x64");
  EXPECT_GT(bytes.countMnemonic("ds_read_b64_tr_b8"), 0);
  EXPECT_GT(bytes.countMnemonic("v_mfma_i32_16x16x64_i8"), 0);
}

class GemmTile : public testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(GemmTile, DecidesLdsAndMatrixInstructions) {
  const auto [m, n, k] = GetParam();
  const Kernel kernel = gemm(fmt::format("tile={}x{}x{}", m, n, k));
  constexpr int stages = 2;
  constexpr int waves = 4;
  EXPECT_EQ(kernel.resources.ldsBytes, stages * (m + n) * k * elementBytes);
  EXPECT_EQ(kernel.inLoop()[InstructionClass::mfma], stages * m * n * k / (16 * 16 * 32 * waves));
}

INSTANTIATE_TEST_SUITE_P(Tiles, GemmTile,
                         testing::Values(std::tuple(32, 32, 64), std::tuple(64, 64, 64),
                                         std::tuple(96, 128, 64), std::tuple(128, 128, 32),
                                         std::tuple(128, 128, 128), std::tuple(256, 64, 64),
                                         std::tuple(192, 128, 64), std::tuple(64, 192, 64)));

TEST(GemmAxes, WavesDecideWorkItemsAndWorkOfEach) {
  const Kernel four = gemm("waves=2x2");
  const Kernel eight = gemm("waves=2x4");
  EXPECT_EQ(four.workItems, 256u);
  EXPECT_EQ(eight.workItems, 512u);
  EXPECT_EQ(four.inLoop()[InstructionClass::mfma], 2 * eight.inLoop()[InstructionClass::mfma]);
  // The split decides how many fragments a wave reads: 8 + 2 instead of 4 + 4 of each slice.
  EXPECT_GT(gemm("waves=1x4").inLoop()[InstructionClass::ldsRead],
            four.inLoop()[InstructionClass::ldsRead]);
  EXPECT_NE(gemm("waves=1x4").hsaco, gemm("waves=4x1").hsaco);
}

TEST(GemmAxes, MatrixInstruction) {
  EXPECT_GT(gemm("").countMnemonic("v_mfma_f32_16x16x32_bf16"), 0);
  const Kernel large = gemm("mfma=32x32x16");
  EXPECT_GT(large.countMnemonic("v_mfma_f32_32x32x16_bf16"), 0);
  EXPECT_EQ(large.countMnemonic("v_mfma_f32_16x16x32_bf16"), 0);
  EXPECT_EQ(2 * large.inLoop()[InstructionClass::mfma], gemm("").inLoop()[InstructionClass::mfma]);
}

TEST(GemmAxes, PathOfEachOperand) {
  const ClassCounts direct = gemm("").inLoop();
  const ClassCounts mixedA = gemm("a=lds").inLoop();
  const ClassCounts mixedB = gemm("b=lds").inLoop();
  const ClassCounts staged = gemm("a=lds,b=lds").inLoop();
  EXPECT_EQ(direct[InstructionClass::ldsDma], 16);
  EXPECT_EQ(direct[InstructionClass::ldsWrite], 0);
  for (const ClassCounts &mixed : {mixedA, mixedB}) {
    EXPECT_EQ(mixed[InstructionClass::ldsDma], 8);
    EXPECT_EQ(mixed[InstructionClass::vmemLoad], 8);
    EXPECT_EQ(mixed[InstructionClass::ldsWrite], 8);
  }
  EXPECT_EQ(staged[InstructionClass::ldsDma], 0);
  EXPECT_EQ(staged[InstructionClass::ldsWrite], 16);
}

TEST(GemmAxes, LayoutOfEachOperand) {
  const std::int64_t plain = gemm("la=plain,lb=plain").resources.ldsBytes;
  EXPECT_EQ(gemm("").resources.ldsBytes, plain);
  EXPECT_NE(gemm("la=plain").hsaco, gemm("").hsaco);
  EXPECT_NE(gemm("lb=plain").hsaco, gemm("").hsaco);
  // Direct path: 16 bytes after each KiB of two stages of 16 KiB.
  EXPECT_EQ(gemm("la=padding,lb=plain").resources.ldsBytes, plain + 2 * 16 * 16);
  EXPECT_EQ(gemm("lb=padding,la=plain").resources.ldsBytes, plain + 2 * 16 * 16);
  // Through registers: after each of 128 rows.
  EXPECT_EQ(gemm("a=lds,la=padding,lb=plain").resources.ldsBytes, plain + 2 * 128 * 16);
}

TEST(GemmAxes, VectorOfEachOperand) {
  struct {
    int bytes;
    const char *mnemonic;
  } const widths[] = {{2, "buffer_load_ushort"},
                      {4, "buffer_load_dword"},
                      {8, "buffer_load_dwordx2"},
                      {16, "buffer_load_dwordx4"}};
  for (const auto &width : widths) {
    const Kernel a = gemm(fmt::format("tile=64x64x32,a=lds,va={}", width.bytes));
    const Kernel b = gemm(fmt::format("tile=64x64x32,b=lds,vb={}", width.bytes));
    EXPECT_GT(a.countMnemonic(width.mnemonic), 0) << "va=" << width.bytes;
    EXPECT_GT(b.countMnemonic(width.mnemonic), 0) << "vb=" << width.bytes;
  }
  EXPECT_EQ(gemm("tile=64x64x32,va=4").inLoop()[InstructionClass::ldsDma], 2 * (4 + 1));
}

TEST(GemmAxes, AccumulatorRegisters) {
  EXPECT_EQ(gemm("acc=vgpr").resources.agpr, 0);
  const Kernel agpr = gemm("acc=agpr");
  EXPECT_EQ(agpr.resources.agpr, 64);
  // Whole loops without a move between the two files.
  EXPECT_EQ(agpr.inLoop()[InstructionClass::valu], 0);
}

TEST(GemmAxes, EpilogueStores) {
  const Kernel direct = gemm("epi=direct");
  const Kernel swapped = gemm("epi=swap");
  EXPECT_EQ(direct.count(InstructionClass::vmemStore), 64);
  EXPECT_EQ(direct.countMnemonic("buffer_store_short"), 64);
  EXPECT_EQ(swapped.count(InstructionClass::vmemStore), 16);
  EXPECT_EQ(swapped.countMnemonic("buffer_store_dwordx2"), 16);
}

TEST(GemmAxes, StagesAndPrefetch) {
  const Kernel one = gemm("stages=1,prefetch=0");
  const Kernel two = gemm("stages=2,prefetch=1");
  const Kernel three = gemm("stages=3,prefetch=2");
  EXPECT_EQ(two.resources.ldsBytes, 2 * one.resources.ldsBytes);
  EXPECT_EQ(three.resources.ldsBytes, 3 * one.resources.ldsBytes);
  EXPECT_EQ(one.inLoop()[InstructionClass::mfma], 32);
  EXPECT_EQ(three.inLoop()[InstructionClass::mfma], 96);
  // One more step under way through registers: its loads stand before the loop.
  const Kernel near = gemm("a=lds,b=lds,prefetch=1");
  const Kernel far = gemm("a=lds,b=lds,prefetch=2");
  EXPECT_EQ(far.count(InstructionClass::vmemLoad), near.count(InstructionClass::vmemLoad) + 8);
}

TEST(GemmAxes, OrderOfTheLoop) {
  auto readsBeforeFirstMatrix = [](const Kernel &kernel) {
    const MachineLoop loop = kernel.code.loops().front();
    int reads = 0;
    for (std::size_t i = loop.first; i <= loop.last; ++i) {
      const InstructionClass kind = kernel.code.instructions[i].kind;
      if (kind == InstructionClass::mfma) {
        break;
      }
      reads += kind == InstructionClass::ldsRead ? 1 : 0;
    }
    return reads;
  };
  EXPECT_EQ(readsBeforeFirstMatrix(gemm("schedule=serial")), 16);
  EXPECT_LT(readsBeforeFirstMatrix(gemm("schedule=interleaved")), 10);
}

TEST(GemmAxes, MappingOfWorkgroups) {
  const Kernel both = gemm("xcd=1,group=8");
  const Kernel noRemap = gemm("xcd=0,group=8");
  const Kernel rowMajor = gemm("xcd=0,group=0");
  EXPECT_GT(both.code.instructions.size(), noRemap.code.instructions.size());
  EXPECT_GT(noRemap.code.instructions.size(), rowMajor.code.instructions.size());
  EXPECT_NE(gemm("group=4").hsaco, both.hsaco);
}

TEST(RmsNormAxes, WavesAndRowsDecideTheWorkgroup) {
  EXPECT_EQ(norm("waves=1,rows=4").workItems, 256u);
  EXPECT_EQ(norm("waves=2,rows=4").workItems, 512u);
  EXPECT_EQ(norm("waves=1,rows=2").workItems, 128u);
  // One wave a row needs no LDS; several exchange one float each.
  EXPECT_EQ(norm("waves=1,rows=4").resources.ldsBytes, 0);
  EXPECT_EQ(norm("waves=2,rows=4").resources.ldsBytes, 4 * 8);
  EXPECT_EQ(norm("waves=1,rows=4").count(InstructionClass::barrier), 0);
  EXPECT_EQ(norm("waves=2,rows=4").count(InstructionClass::barrier), 1);
}

TEST(RmsNormAxes, VectorDecidesTheLoads) {
  EXPECT_GT(norm("waves=4,rows=1,vec=16").countMnemonic("buffer_load_dwordx4"), 0);
  EXPECT_GT(norm("waves=4,rows=1,vec=8").countMnemonic("buffer_load_dwordx2"), 0);
  EXPECT_EQ(norm("waves=4,rows=1,vec=8").countMnemonic("buffer_load_dwordx4"), 0);
}

TEST(RmsNormAxes, PassesDecideLoopsAndRegisters) {
  const Kernel one = norm("waves=4,rows=1,passes=1");
  const Kernel two = norm("waves=4,rows=1,passes=2");
  EXPECT_TRUE(one.code.loops().empty());
  EXPECT_EQ(two.code.loops().size(), 2u);
  EXPECT_LT(two.count(InstructionClass::vmemLoad), one.count(InstructionClass::vmemLoad));
}

TEST(RmsNormAxes, OccupancyIsReached) {
  const Kernel seven = norm("waves=4,rows=1,occupancy=7");
  EXPECT_GE(seven.resources.occupancy, 7);
  EXPECT_NE(seven.hsaco, norm("waves=4,rows=1").hsaco);
  EXPECT_EQ(norm("waves=4,rows=1,passes=2,occupancy=8").resources.occupancy, 8);
}

TEST(GemmAxes, WavesFromOneToSixteen) {
  EXPECT_EQ(gemm("tile=32x32x64,waves=1x1").workItems, 64u);
  EXPECT_EQ(gemm("tile=32x64x64,waves=1x2").workItems, 128u);
  EXPECT_EQ(gemm("waves=4x4,schedule=interleaved").workItems, 1024u);
  // A wave alone waits for nobody.
  EXPECT_EQ(gemm("tile=32x32x64,waves=1x1").count(InstructionClass::barrier), 0);
}

TEST(GemmAxes, PriorityIsRaisedAndLoweredAroundClusters) {
  EXPECT_EQ(gemm("").countMnemonic("s_setprio"), 0);
  EXPECT_EQ(gemm("prio=1").countMnemonic("s_setprio"), 2 * 2); // stages
  EXPECT_EQ(gemm("waves=2x4,schedule=pingpong,prio=1").countMnemonic("s_setprio"), 2 * 2 * 2);
}

TEST(GemmAxes, PingPongMeetsFourTimesAStep) {
  EXPECT_EQ(gemm("waves=2x4,schedule=serial").inLoop()[InstructionClass::barrier], 2);
  EXPECT_EQ(gemm("waves=2x4,schedule=pingpong").inLoop()[InstructionClass::barrier], 2 * 4);
}

TEST(GemmAxes, QuadrantsMeetTwiceAStep) {
  EXPECT_EQ(gemm("quad=1").inLoop()[InstructionClass::barrier], 2 * 2);
}

TEST(GemmAxes, OccupancyLimitsRegisters) {
  const std::string decisions = "tile=128x128x32,schedule=interleaved";
  EXPECT_LE(gemm(decisions + ",occupancy=4").resources.vgpr, 128);
}

TEST(GemmAxes, PersistentWorkgroupsLoopOverTiles) {
  EXPECT_EQ(gemm("").code.loops().size(), 1u);
  EXPECT_EQ(gemm("grid=persistent").code.loops().size(), 2u);
}
