// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules that fast public kernels use, by name: each must be legal, compile without a spill, do
// nothing in its main loop that its plan doesn't say, and compute what the reference computes, in
// strict mode. One table for all parts of GEMM.
#include "codegen/Compile.h"
#include "codegen/Disassembly.h"
#include "ir/Rule.h"
#include "runtime/Validator.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

struct ReferenceSchedule {
  const char *name;
  const char *problem;
  const char *schedule;
  int leastDensity = 0;      ///< matrix instructions of the hot loop, per cent
  bool countedWaits = false; ///< no wait of the hot loop drains all loads
};

class ReferenceSchedules : public testing::TestWithParam<ReferenceSchedule> {
protected:
  const Target &target = *targets().front();
  const Problem problem = *parseProblem(GetParam().problem);
  const Schedule schedule = *parseSchedule(GetParam().schedule);
};

std::string explained(const std::vector<Violation> &violations) {
  std::string text;
  for (const Violation &violation : violations) {
    text += fmt::format("{}: {}\n", violation.rule, violation.message);
  }
  return text;
}

/// The loop with most matrix instructions.
std::optional<MachineLoop> hotLoop(const KernelDisassembly &code) {
  std::optional<MachineLoop> hot;
  std::ptrdiff_t most = 0;
  for (const MachineLoop &loop : code.loops()) {
    const auto count =
        std::count_if(code.instructions.begin() + static_cast<std::ptrdiff_t>(loop.first),
                      code.instructions.begin() + static_cast<std::ptrdiff_t>(loop.last) + 1,
                      [](const Instruction &one) { return one.kind == InstructionClass::mfma; });
    // Of a loop in a loop the inner one.
    if (count > 0 && count >= most) {
      hot = !hot || count > most || loop.last - loop.first < hot->last - hot->first ? loop : *hot;
      most = count;
    }
  }
  return hot;
}

TEST_P(ReferenceSchedules, IsLegalAndFreeOfSpillsAndMoves) {
  const std::vector<Violation> violations = checkLegal(problem, schedule, target);
  ASSERT_TRUE(violations.empty()) << explained(violations);
  const auto compiled = compile(problem, schedule, target);
  ASSERT_TRUE(compiled) << compiled.error().message;
  for (const KernelResources &kernel : compiled->object.kernels) {
    EXPECT_EQ(kernel.vgprSpills + kernel.sgprSpills + kernel.scratchBytes, 0);
  }
  const KernelDisassembly code = disassemble(compiled->object.hsaco)->front();
  const std::optional<MachineLoop> loop = hotLoop(code);
  ASSERT_TRUE(loop);
  int matrix = 0, all = 0;
  for (std::size_t i = loop->first; i <= loop->last; ++i) {
    const Instruction &one = code.instructions[i];
    EXPECT_NE(one.kind, InstructionClass::scratch) << one.text;
    EXPECT_EQ(one.text.find("accvgpr"), std::string::npos) << one.text;
    EXPECT_FALSE(GetParam().countedWaits && one.kind == InstructionClass::wait && one.vmcnt == 0)
        << one.text;
    matrix += one.kind == InstructionClass::mfma ? 1 : 0;
    ++all;
  }
  EXPECT_GE(100 * matrix, GetParam().leastDensity * all) << matrix << " of " << all;
  fmt::print("{}: {} of {} instructions of the loop are matrix instructions, {} VGPRs, {} AGPRs\n",
             GetParam().name, matrix, all, compiled->object.kernels[0].vgpr,
             compiled->object.kernels[0].agpr);
}

TEST_P(ReferenceSchedules, ComputesWhatTheReferenceComputes) {
  const auto compiled = compile(problem, schedule, target);
  ASSERT_TRUE(compiled) << compiled.error().message;
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  const auto validation = validate(compiled->object, target, *device, {});
  ASSERT_TRUE(validation) << validation.error().message;
  for (const Finding &finding : validation->findings) {
    ADD_FAILURE() << finding.kind << " pc " << std::hex << finding.pc << " " << finding.instruction
                  << ": " << finding.detail;
    break;
  }
  EXPECT_TRUE(validation->ok);
}

constexpr const char *square = "gemm m=4096 n=4096 k=4096 dtype=bf16 b=nk";

INSTANTIATE_TEST_SUITE_P(
    Gemm, ReferenceSchedules,
    testing::Values(
        // 8 waves in two groups, accumulators in VGPRs.
        ReferenceSchedule{"pingpong256", square,
                          "gemm.1:tile=256x256x64,waves=2x4,schedule=pingpong,quad=1,prio=1", 45,
                          true},
        // 4 waves, memory operations between matrix instructions, accumulators in AGPRs.
        ReferenceSchedule{"interleaved256", square,
                          "gemm.1:tile=256x256x64,waves=2x2,acc=agpr,schedule=interleaved,"
                          "quad=1",
                          50, true},
        ReferenceSchedule{"interleavedAhead256", square,
                          "gemm.1:tile=256x256x64,waves=2x2,acc=agpr,schedule=interleaved,"
                          "fragments=1",
                          50},
        // Decode: small workgroups that fill the device.
        ReferenceSchedule{"decodeOneWave", "gemm m=16 n=4096 k=4096 dtype=bf16 b=nk",
                          "gemm.1:tile=16x16x256,waves=1x1,group=0"},
        ReferenceSchedule{"decodeTwoWaves", "gemm m=16 n=4096 k=4096 dtype=bf16 b=nk",
                          "gemm.1:tile=16x32x256,waves=1x2,stages=3,prefetch=2,group=0"},
        // Packed weights straight to registers, two steps ahead.
        ReferenceSchedule{"decodePacked", "gemm m=16 n=4096 k=4096 dtype=bf16 b=nk preshuffle=1",
                          "gemm.1:tile=16x64x256,waves=1x4,b=registers,stages=3,prefetch=2,"
                          "schedule=interleaved,group=0"},
        ReferenceSchedule{"packed128", "gemm m=512 n=4096 k=4096 dtype=bf16 b=nk preshuffle=1",
                          "gemm.1:tile=128x128x64,b=registers,group=4"},
        // 8-bit integers, both ways; f32; A turned by transposing reads.
        ReferenceSchedule{"integers256", "gemm m=256 n=256 k=640 dtype=i8 out=i32 b=nk",
                          "gemm.1:tile=256x256x128,waves=2x4,mfma=16x16x64,xcd=0,group=0"},
        ReferenceSchedule{"integersTurned", "gemm m=256 n=128 k=640 dtype=i8 out=i32 a=km",
                          "gemm.1:tile=128x128x128,mfma=32x32x32,xcd=0,group=0"},
        ReferenceSchedule{"floats", "gemm m=2048 n=2048 k=1024 dtype=f32 a=km b=nk",
                          "gemm.1:tile=128x128x32,mfma=32x32x2,schedule=interleaved"},
        ReferenceSchedule{"turned256", "gemm m=4096 n=4096 k=4096 dtype=bf16 a=km b=kn",
                          "gemm.1:tile=256x256x64,waves=2x4"},
        // Decode with few columns: several workgroups, or waves, share an output tile.
        ReferenceSchedule{"decodeSplitK", "gemm m=16 n=1280 k=8192 dtype=bf16 b=nk",
                          "gemm.1:tile=16x64x128,waves=1x4,epi=swap,group=0,splitk=16"},
        ReferenceSchedule{"decodeSplitKAtomic", "gemm m=1 n=1280 k=8192 dtype=bf16 b=nk",
                          "gemm.1:tile=16x32x128,waves=1x2,group=0,splitk=8,reduce=atomic"},
        ReferenceSchedule{"decodeSliceK", "gemm m=16 n=8192 k=1024 dtype=bf16 b=nk",
                          "gemm.1:tile=16x64x256,waves=1x2,epi=permlane,group=0,slicek=2"},
        ReferenceSchedule{"decodeSliceAndSplitK", "gemm m=16 n=2304 k=16384 dtype=bf16 b=nk",
                          "gemm.1:tile=16x64x256,waves=1x2,epi=swap,group=0,slicek=4,splitk=4"},
        ReferenceSchedule{"permlane256", square,
                          "gemm.1:tile=256x256x64,waves=2x4,epi=permlane,schedule=pingpong,quad=1,"
                          "prio=1",
                          45},
        ReferenceSchedule{"persistent", "gemm m=8192 n=8192 k=512 dtype=bf16 b=nk",
                          "gemm.1:tile=256x256x64,waves=2x4,schedule=pingpong,grid=persistent"}),
    [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Attention, ReferenceSchedules,
    testing::Values(
        // Llama 3 70B on one of eight GPUs: 8 heads of one group, splits fill the device.
        ReferenceSchedule{"decodeLlama", "attention b=1 hq=8 hkv=1 sq=1 skv=2048 d=128",
                          "attention.1:splitkv=16"},
        // The same with K and V straight to LDS, two steps under way.
        ReferenceSchedule{"decodeDirect", "attention b=1 hq=8 hkv=1 sq=1 skv=2048 d=128",
                          "attention.1:waves=2,k=direct,v=direct,stages=3,splitkv=32"},
        // MiniMax M3: 16 heads a group and 4 queries are 64 packed rows.
        ReferenceSchedule{"decodeFourQueries",
                          "attention b=1 hq=64 hkv=4 sq=4 skv=2048 d=128 mask=causal lse=1",
                          "attention.1:tile=32x32,mfma=32x32x16,splitkv=16"}),
    [](const auto &info) { return info.param.name; });

} // namespace
} // namespace kw
