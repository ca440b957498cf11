// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is predicted is what is emitted: the main loop in the HSACO has loads, LDS accesses, matrix
// instructions and barriers in the plan's order, and waits for no load earlier than planned.

#include "codegen/Compile.h"
#include "codegen/Disassembly.h"
#include "ir/KernelPlan.h"
#include "ir/plans/AttentionLoop.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace kw;

namespace {

/// One operation, and how many loads may be outstanding at most when it is reached.
struct Step {
  InstructionClass kind;
  int outstanding = 0;
};

InstructionClass classOf(TileOpKind kind) {
  switch (kind) {
  case TileOpKind::globalLoad:
    return InstructionClass::vmemLoad;
  case TileOpKind::directLoad:
    return InstructionClass::ldsDma;
  case TileOpKind::ldsWrite:
    return InstructionClass::ldsWrite;
  case TileOpKind::ldsRead:
    return InstructionClass::ldsRead;
  case TileOpKind::matrix:
    return InstructionClass::mfma;
  case TileOpKind::barrier:
    return InstructionClass::barrier;
  default:
    return InstructionClass::other;
  }
}

bool isLoad(InstructionClass kind) {
  return kind == InstructionClass::vmemLoad || kind == InstructionClass::ldsDma;
}

bool isOrdered(InstructionClass kind) {
  return isLoad(kind) || kind == InstructionClass::ldsWrite || kind == InstructionClass::ldsRead ||
         kind == InstructionClass::mfma || kind == InstructionClass::barrier;
}

/// `trips` iterations as planned, from a state in which nothing is known to have arrived.
std::vector<Step> planned(const LoopGraph &loop, int trips) {
  std::vector<Step> steps;
  int outstanding = 1 << 20;
  for (int trip = 0; trip < trips; ++trip) {
    for (std::size_t i = 0; i < loop.order.size(); ++i) {
      const TileOp &op = loop.op(i);
      if (op.kind == TileOpKind::wait) {
        if (op.pendingVector >= 0) {
          outstanding = std::min<int>(outstanding, op.pendingVector);
        }
        continue;
      }
      const InstructionClass kind = classOf(op.kind);
      for (int copy = 0; copy < op.count && kind != InstructionClass::other; ++copy) {
        steps.push_back({kind, outstanding});
        outstanding += isLoad(kind) ? 1 : 0;
      }
    }
  }
  return steps;
}

struct OrderCase {
  const char *name;
  const char *problem;
  const char *schedule;
};

class EmittedOrder : public testing::TestWithParam<OrderCase> {};

/// Steps of one trip of the emitted loop.
int stepsOfTrip(const Schedule &schedule) {
  const auto *attention = std::get_if<AttentionSchedule>(&schedule);
  return attention ? unrolledSteps(*attention) : std::get<GemmSchedule>(schedule).pipeline.stages;
}

/// Attention leaves waits for loads to registers to LLVM.
bool plansAllWaits(const Schedule &schedule, const LoopGraph &graph) {
  return std::holds_alternative<GemmSchedule>(schedule) ||
         std::none_of(graph.order.begin(), graph.order.end(), [&](auto vertex) {
           return graph.graph[vertex].op.kind == TileOpKind::globalLoad;
         });
}

/// Two turns of the loop: the second starts from what the first left outstanding.
void expectPlanned(const KernelDisassembly &code, const MachineLoop &loop,
                   const std::vector<Step> &want, bool checkWaits) {
  std::size_t at = 0;
  for (int turn = 0; turn < 2; ++turn) {
    for (std::size_t i = loop.first; i <= loop.last; ++i) {
      const Instruction &instruction = code.instructions[i];
      EXPECT_NE(instruction.kind, InstructionClass::scratch) << instruction.text;
      if (instruction.kind == InstructionClass::wait && instruction.vmcnt >= 0 && turn == 1 &&
          checkWaits) {
        ASSERT_LT(at, want.size());
        EXPECT_GE(instruction.vmcnt, std::min(63, want[at].outstanding))
            << "stricter than planned at " << std::hex << instruction.address;
      }
      if (isOrdered(instruction.kind)) {
        ASSERT_LT(at, want.size());
        EXPECT_EQ(name(instruction.kind), name(want[at].kind)) << at << ": " << instruction.text;
        ++at;
      }
    }
  }
  EXPECT_EQ(at, want.size());
}

} // namespace

TEST_P(EmittedOrder, IsThePlannedOne) {
  const Problem problem = *parseProblem(GetParam().problem);
  const Schedule schedule = *parseSchedule(GetParam().schedule);
  const Target &target = **findTarget("gfx950");
  const auto compiled = compile(problem, schedule, target);
  ASSERT_TRUE(compiled.has_value()) << compiled.error().message;
  EXPECT_EQ(compiled->object.kernels[0].vgprSpills, 0);

  const KernelPlan plan = makePlan(problem, schedule, target);
  const LaunchPlan &launch = plan.launches[0];
  const KernelDisassembly code = disassemble(compiled->object.hsaco)->front();
  std::size_t next = 0;
  for (const Region &region : launch.regions) {
    if (region.kind != RegionKind::mainLoop && region.kind != RegionKind::diagonal) {
      continue;
    }
    const LoopGraph graph = loopGraph(problem, schedule, target, launch, region);
    ASSERT_LT(next, code.loops().size());
    expectPlanned(code, code.loops()[next++], planned(graph, 2 * stepsOfTrip(schedule)),
                  plansAllWaits(schedule, graph));
  }
  EXPECT_EQ(code.loops().size(), next);
}

constexpr const char *nk = "gemm m=4096 n=4096 k=4096 dtype=bf16 b=nk";
constexpr const char *kn = "gemm m=4096 n=4096 k=4096 dtype=f16 b=kn";

INSTANTIATE_TEST_SUITE_P(
    Gemm, EmittedOrder,
    testing::Values(
        OrderCase{"serial", nk, "gemm.1"},
        OrderCase{"interleaved", nk, "gemm.1:schedule=interleaved"},
        OrderCase{"agpr", nk, "gemm.1:tile=256x256x64,acc=agpr,schedule=interleaved"},
        OrderCase{"eightWaves", nk, "gemm.1:tile=256x256x64,waves=2x4,schedule=interleaved"},
        OrderCase{"oneStage", nk, "gemm.1:stages=1,prefetch=0"},
        OrderCase{"threeStages", nk, "gemm.1:stages=3,prefetch=2,schedule=interleaved"},
        OrderCase{"throughRegisters", nk, "gemm.1:a=lds,b=lds"},
        OrderCase{"registersAhead", nk, "gemm.1:a=lds,b=lds,prefetch=2,schedule=interleaved"},
        OrderCase{"mixedPaths", nk, "gemm.1:a=lds,schedule=interleaved"},
        OrderCase{"largeMfma", nk, "gemm.1:mfma=32x32x16,schedule=interleaved"},
        OrderCase{"oneWave", nk, "gemm.1:tile=32x32x64,waves=1x1"},
        OrderCase{"twoWaves", nk, "gemm.1:tile=16x64x128,waves=1x2,schedule=interleaved"},
        OrderCase{"sixteenWaves", nk, "gemm.1:tile=256x256x64,waves=4x4,schedule=interleaved"},
        OrderCase{"priority", nk, "gemm.1:prio=1"},
        OrderCase{"occupancy", nk, "gemm.1:occupancy=2"},
        OrderCase{"fragments", nk, "gemm.1:fragments=1"},
        OrderCase{"wholeStepAhead", nk, "gemm.1:fragments=2"},
        OrderCase{"fragmentsInterleaved", nk,
                  "gemm.1:tile=256x256x64,acc=agpr,fragments=1,schedule=interleaved"},
        OrderCase{"fragmentsThreeStages", nk,
                  "gemm.1:stages=3,prefetch=2,fragments=1,schedule=interleaved"},
        OrderCase{"fragmentsThroughRegisters", nk,
                  "gemm.1:a=lds,b=lds,prefetch=2,fragments=1,schedule=interleaved"},
        OrderCase{"fragmentsMixed", kn, "gemm.1:a=lds,fragments=1"},
        OrderCase{"pingpong", nk, "gemm.1:tile=256x256x64,waves=2x4,schedule=pingpong,prio=1"},
        OrderCase{"quadrants", nk, "gemm.1:quad=1"},
        OrderCase{"quadrantsInterleaved", nk,
                  "gemm.1:tile=256x256x64,acc=agpr,quad=1,schedule=interleaved"},
        OrderCase{"pingpongQuadrants", nk,
                  "gemm.1:tile=256x256x64,waves=2x4,schedule=pingpong,quad=1,prio=1"},
        OrderCase{"pingpongThreeStages", kn,
                  "gemm.1:tile=128x128x64,waves=2x4,stages=3,prefetch=2,schedule=pingpong"},
        OrderCase{"transposing", kn, "gemm.1:schedule=interleaved"},
        OrderCase{"transposingPadded", kn, "gemm.1:lb=padding"}),
    [](const auto &info) { return info.param.name; });

constexpr const char *decode = "attention b=1 hq=16 hkv=1 sq=1 skv=4096 d=128 dtype=bf16";

INSTANTIATE_TEST_SUITE_P(
    Attention, EmittedOrder,
    testing::Values(OrderCase{"standard", decode, "attention.1"},
                    OrderCase{"splits", decode, "attention.1:splitkv=8"},
                    OrderCase{"oneWave", decode, "attention.1:waves=1"},
                    OrderCase{"largeMfma", decode, "attention.1:tile=32x32,mfma=32x32x16"},
                    OrderCase{"twoQueryFragments", decode, "attention.1:tile=32x32,k=direct"},
                    OrderCase{"throughLds", decode, "attention.1:k=lds"},
                    OrderCase{"noPrefetch", decode, "attention.1:prefetch=0"},
                    OrderCase{"direct", decode, "attention.1:k=direct,v=direct,waves=2"},
                    OrderCase{"threeStages", decode,
                              "attention.1:k=direct,v=direct,stages=3,waves=2"},
                    OrderCase{"valuesDirect", decode, "attention.1:v=direct,stages=2"}),
    [](const testing::TestParamInfo<OrderCase> &info) { return std::string(info.param.name); });
