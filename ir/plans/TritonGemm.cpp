// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of Inductor's Triton templates for GEMM: one launch, one workgroup an output tile. What
// Triton makes of the decisions is said in ir/generators/TritonKernel.h; the graph of a step is
// that of a kernel of ours with the same structure, with the masks and addresses that the templates
// compute in every step.
#include "ir/Occupancy.h"
#include "ir/generators/TritonKernel.h"
#include "ir/plans/GemmLoop.h"
#include "ir/plans/Plans.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace kw {
namespace {

const TritonGemmSchedule &triton(const Schedule &schedule) {
  return std::get<TritonGemmSchedule>(schedule);
}

std::int64_t tilesOf(std::int64_t size, int block) { return ceilDiv<std::int64_t>(size, block); }

// ---- Traffic ----

TileTraffic operandTraffic(const Gemm &gemm, const TritonGemmSchedule &schedule,
                           const TritonOperand &operand, bool isA) {
  const bool k = isA ? gemm.aKContiguous() : gemm.bKContiguous();
  const int block = isA ? schedule.blockM : schedule.blockN;
  const int elementBytes = std::max(1, bitWidth(gemm.aType) / 8);
  TileTraffic traffic;
  traffic.operand = isA ? TileOperand::a : TileOperand::b;
  traffic.rows = k ? block : schedule.blockK;
  traffic.bytesPerRow = std::int64_t(k ? schedule.blockK : block) * elementBytes;
  traffic.vectorBytes = operand.vectorBytes;
  traffic.pitchBytes = (isA ? gemm.lda : gemm.ldb) * elementBytes;
  traffic.byTileM = isA;
  traffic.byTileN = !isA;
  traffic.alongTrips = true;
  return traffic;
}

/// The result, or the matrix that is added to it.
TileTraffic resultTraffic(const Gemm &gemm, const TritonGemmSchedule &schedule, bool write) {
  constexpr int neighbours = 4; // registers that follow one another along n
  const int elementBytes = std::max(1, bitWidth(gemm.outType) / 8);
  TileTraffic traffic;
  traffic.operand = TileOperand::c;
  traffic.write = write;
  traffic.rows = schedule.blockM;
  traffic.bytesPerRow = std::int64_t(schedule.blockN) * elementBytes;
  traffic.vectorBytes = neighbours * elementBytes;
  traffic.pitchBytes = gemm.ldc * elementBytes;
  traffic.perTrip = false;
  traffic.byTileM = traffic.byTileN = true;
  return traffic;
}

void addTraffic(const Gemm &gemm, const TritonGemmSchedule &schedule, const TritonKernel &kernel,
                LaunchPlan &launch) {
  launch.traffic = {operandTraffic(gemm, schedule, kernel.a, true),
                    operandTraffic(gemm, schedule, kernel.b, false),
                    resultTraffic(gemm, schedule, true)};
  const TritonAdded added = tritonCall(gemm).added;
  if (added != TritonAdded::none) {
    TileTraffic &traffic = launch.traffic.emplace_back(resultTraffic(gemm, schedule, false));
    if (added == TritonAdded::bias) {
      traffic.rows = 1;
      traffic.byTileM = false;
    }
  }
}

// ---- Regions ----

/// Ours have the highest bit clear.
constexpr LoopKey foreign = LoopKey(1) << 63;

LoopKey loopKey(const Gemm &gemm, const TritonGemmSchedule &schedule, RegionKind region) {
  const auto log = [](int value) { return std::bit_width(static_cast<unsigned>(value)); };
  return foreign | LoopKeyPacker()
                       .add(static_cast<std::uint64_t>(region), 3)
                       .add(log(schedule.blockM), 4)
                       .add(log(schedule.blockN), 4)
                       .add(log(schedule.blockK), 4)
                       .add(log(schedule.numWarps), 3)
                       .add(schedule.numStages, 4)
                       .add(schedule.matrixInstrNonKDim, 7)
                       .add(evenK(gemm, schedule) ? 1 : 0, 1)
                       .key();
}

void addRegions(const Gemm &gemm, const TritonGemmSchedule &schedule, LaunchPlan &launch,
                Inline<std::int32_t, 8> &trips) {
  const auto add = [&](RegionKind kind, std::int64_t count) {
    launch.regions.push_back({kind, 0, loopKey(gemm, schedule, kind)});
    trips.push_back(static_cast<std::int32_t>(count));
  };
  add(RegionKind::prologue, 1);
  add(RegionKind::mainLoop, tilesOf(gemm.k, schedule.blockK));
  add(RegionKind::epilogue, 1);
}

void addKinds(const Gemm &gemm, const TritonGemmSchedule &schedule,
              const Inline<std::int32_t, 8> &trips, LaunchPlan &launch) {
  const std::int64_t fullM = gemm.m / schedule.blockM, fullN = gemm.n / schedule.blockN;
  const auto restM = static_cast<std::int32_t>(gemm.m % schedule.blockM);
  const auto restN = static_cast<std::int32_t>(gemm.n % schedule.blockN);
  const auto add = [&](std::string_view name, std::int64_t count, std::int32_t usefulM,
                       std::int32_t usefulN) {
    if (count > 0 && usefulM > 0 && usefulN > 0) {
      launch.kinds.push_back({name, count * gemm.batch, trips, usefulM, usefulN});
    }
  };
  add("interior", fullM * fullN, schedule.blockM, schedule.blockN);
  add("edgeM", fullN, restM, schedule.blockN);
  add("edgeN", fullM, schedule.blockM, restN);
  add("corner", 1, restM, restN);
}

// ---- The plan ----

void addBuffers(const Gemm &gemm, KernelPlan &plan) {
  const auto add = [&](std::string_view name, BufferRole role, std::int64_t rows,
                       std::int64_t columns, std::int64_t pitch, std::int64_t batchStride) {
    plan.buffers.push_back(
        {name, role,
         bytesOf(gemm.aType, (gemm.batch - 1) * batchStride + (rows - 1) * pitch + columns)});
  };
  const bool ka = gemm.aKContiguous(), kb = gemm.bKContiguous();
  add("a", BufferRole::input, ka ? gemm.m : gemm.k, ka ? gemm.k : gemm.m, gemm.lda, gemm.sa);
  add("b", BufferRole::input, kb ? gemm.n : gemm.k, kb ? gemm.k : gemm.n, gemm.ldb, gemm.sb);
  add("c", BufferRole::output, gemm.m, gemm.n, gemm.ldc, gemm.sc);
}

LdsBuffer ldsBuffer(TileOperand operand, const TileTraffic &traffic, const TritonOperand &loaded,
                    int buffers) {
  return {operand, static_cast<std::int32_t>(ceilDiv<std::int64_t>(loaded.ldsBytes, buffers)),
          static_cast<std::int8_t>(buffers), static_cast<std::int32_t>(traffic.bytesPerRow),
          loaded.padding == 0};
}

RegisterUse registerUse(const Gemm &gemm, const TritonGemmSchedule &schedule,
                        const Target &target) {
  const TritonRegisters registers = tritonRegisters(gemm, schedule, target);
  RegisterUse use;
  use.accumulators = registers.accumulators;
  use.fragments = registers.total - registers.accumulators;
  // Beyond what a VGPR can name, accumulators move to AGPRs; LLVM takes the registers as one file.
  use.accumulatorsInAgpr = registers.total > target.vgprPerWave;
  return use;
}

KernelPlan planTriton(const Problem &problem, const Schedule &any, const Target &target) {
  const Gemm &gemm = problem.gemm();
  const TritonGemmSchedule &schedule = triton(any);
  const TritonKernel kernel = tritonKernel(gemm, schedule, target);
  const std::int64_t tilesM = tilesOf(gemm.m, schedule.blockM);
  const std::int64_t tilesN = tilesOf(gemm.n, schedule.blockN);

  KernelPlan plan;
  addBuffers(gemm, plan);
  LaunchPlan &launch = plan.launches.emplace_back();
  launch.role = "main";
  launch.waves = schedule.numWarps;
  launch.workgroups = tilesM * tilesN * gemm.batch;
  launch.tileM = schedule.blockM;
  launch.tileN = schedule.blockN;
  launch.mapping = {tilesM, tilesN, gemm.batch, 1, schedule.groupM};
  addTraffic(gemm, schedule, kernel, launch);
  launch.lds = {ldsBuffer(TileOperand::a, launch.traffic[0], kernel.a, kernel.buffers),
                ldsBuffer(TileOperand::b, launch.traffic[1], kernel.b, kernel.buffers)};
  launch.ldsBytes = static_cast<std::int32_t>(kernel.ldsBytes);
  launch.registers = registerUse(gemm, schedule, target);
  launch.occupancy = occupancy(target, launch.registers.vgpr(), launch.registers.agpr(),
                               launch.ldsBytes, launch.waves);
  Inline<std::int32_t, 8> trips;
  addRegions(gemm, schedule, launch, trips);
  addKinds(gemm, schedule, trips, launch);
  return plan;
}

/// Instructions a load that the templates spend on addresses and masks in every step. [C]
int vectorInstructions(const Gemm &gemm, const TritonGemmSchedule &schedule) {
  return evenK(gemm, schedule) ? 1 : 2;
}

UnfinishedLoop loopOf(const Problem &problem, const Schedule &any, const Target &target,
                      const Region &region) {
  const Gemm &gemm = problem.gemm();
  const TritonGemmSchedule &schedule = triton(any);
  const TritonKernel kernel = tritonKernel(gemm, schedule, target);
  UnfinishedLoop loop = gemmLoop(problem.gemm(), similarSchedule(schedule, kernel), target, region);
  if (region.kind == RegionKind::mainLoop) {
    int loads = 0;
    for (const TritonOperand *operand : {&kernel.a, &kernel.b}) {
      loads += loadsOf(*operand, schedule.numWarps);
    }
    TileOp masks{TileOpKind::vector};
    masks.count = static_cast<std::int16_t>(loads * vectorInstructions(gemm, schedule));
    ResourceUse use;
    use.valu = use.issue = static_cast<float>(target.valuCycles * masks.count);
    loop.builder.add(masks, use);
  }
  return loop;
}

std::string stem(const Problem &, const Schedule &any) {
  const TritonGemmSchedule &schedule = triton(any);
  return fmt::format("triton_gemm_{}x{}x{}", schedule.blockM, schedule.blockN, schedule.blockK);
}

} // namespace

const Planner &tritonGemmPlanner() {
  // Triton makes and launches the kernel: no interface, no run-time sizes.
  static const Planner planner{planTriton, loopOf, nullptr, nullptr, stem};
  return planner;
}

} // namespace kw
