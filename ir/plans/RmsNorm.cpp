// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of an RMSNorm: one launch; a workgroup does `rowsPerWorkgroup` rows at the same time.
#include "ir/Occupancy.h"
#include "ir/plans/Plans.h"
#include "ir/plans/RmsNormLoop.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace kw {
namespace {

int elementBytes(ElementType type) { return std::max(1, bitWidth(type) / 8); }

void addBuffers(const RmsNorm &norm, KernelPlan &plan) {
  const std::int64_t bytes = norm.rows * norm.cols * elementBytes(norm.type);
  plan.buffers.push_back({"x", BufferRole::input, bytes});
  if (norm.weight) {
    plan.buffers.push_back({"weight", BufferRole::input, norm.cols * elementBytes(norm.type)});
  }
  if (norm.residual) {
    plan.buffers.push_back({"residual", BufferRole::input, bytes});
  }
  plan.buffers.push_back(
      {"y", BufferRole::output, norm.rows * norm.cols * elementBytes(norm.outType)});
  if (norm.residual) {
    plan.buffers.push_back({"sum", BufferRole::output, bytes});
  }
  if (norm.quantised) {
    plan.buffers.push_back({"scale", BufferRole::output, norm.rows * 4});
  }
}

/// Per workgroup, all rows and pieces; two passes list what is read again a second time.
void addTraffic(const RmsNorm &norm, const RmsNormSchedule &schedule, LaunchPlan &launch) {
  const auto add = [&](TileOperand operand, bool write, std::int32_t rows, ElementType type) {
    TileTraffic traffic;
    traffic.operand = operand;
    traffic.write = write;
    traffic.rows = rows;
    traffic.bytesPerRow = traffic.pitchBytes = norm.cols * elementBytes(type);
    traffic.vectorBytes = schedule.vectorBytes / elementBytes(norm.type) * elementBytes(type);
    traffic.perTrip = false;
    traffic.byTileM = rows > 1 || operand != TileOperand::weight;
    launch.traffic.push_back(traffic);
  };
  const std::int32_t rows = schedule.rowsPerWorkgroup;
  for (int pass = 0; pass < std::min(schedule.passes, 2); ++pass) {
    add(TileOperand::x, false, rows, norm.type);
    if (norm.residual) {
      add(TileOperand::residual, false, rows, norm.type);
    }
  }
  if (norm.weight) {
    add(TileOperand::weight, false, 1, norm.type);
  }
  add(TileOperand::y, true, rows, norm.outType);
  if (norm.residual) {
    add(TileOperand::sum, true, rows, norm.type);
  }
  if (norm.quantised) {
    TileTraffic scale = launch.traffic.back();
    scale.operand = TileOperand::scaleA;
    scale.bytesPerRow = scale.pitchBytes = scale.vectorBytes = 4;
    launch.traffic.push_back(scale);
  }
}

/// One pass keeps the rounded row, and has the weights and residuals in flight with it; two passes
/// hold this piece and the next. Compiled kernels of 16 pieces take about three more registers a
/// piece where weights stay beside the row (206 of 8192 columns). [fitted: compiled VGPRs]
RegisterUse registerUse(const RmsNorm &norm, const RmsNormSchedule &schedule) {
  constexpr std::int64_t tooMany = 1 << 16; // far above any register file, far below overflow
  const std::int64_t registersPerPiece = std::max(1, schedule.vectorBytes / 4);
  const std::int64_t operands = 1 + (norm.weight ? 1 : 0) + (norm.residual ? 1 : 0);
  const std::int64_t pieces =
      schedule.passes == 1 ? std::min(rowPieces(norm, schedule), tooMany) : 2;
  constexpr int base = 8; ///< row, column and lane positions, masks
  const int unpacked = 2 * std::max(1, schedule.vectorBytes / elementBytes(norm.type));
  RegisterUse use;
  use.accumulators = 2;
  use.staging = static_cast<int>(pieces * operands * registersPerPiece);
  use.addresses = base + unpacked + static_cast<int>(pieces) * (norm.residual ? 1 : 3);
  return use;
}

LoopKey loopKey(const RmsNormSchedule &schedule, RegionKind region) {
  return LoopKeyPacker()
      .add(static_cast<std::uint64_t>(region), 3)
      .add(std::countr_zero(static_cast<unsigned>(schedule.vectorBytes)), 3)
      .add(schedule.wavesPerRow, 5)
      .add(schedule.rowsPerWorkgroup, 5)
      .add(schedule.passes, 2)
      .key();
}

void addRegions(const RmsNorm &norm, const RmsNormSchedule &schedule, LaunchPlan &launch,
                Inline<std::int32_t, 8> &trips) {
  const auto add = [&](RegionKind kind, std::int64_t count) {
    launch.regions.push_back({kind, 0, loopKey(schedule, kind)});
    trips.push_back(static_cast<std::int32_t>(count));
  };
  const std::int64_t trip = schedule.passes == 1 ? 1 : rowPieces(norm, schedule);
  add(RegionKind::prologue, 1);
  add(RegionKind::mainLoop, trip);
  add(RegionKind::reduction, 1);
  add(RegionKind::epilogue, trip);
}

KernelPlan planRmsNorm(const Problem &problem, const Schedule &any, const Target &target) {
  const RmsNorm &norm = problem.rmsnorm();
  const auto &schedule = std::get<RmsNormSchedule>(any);
  const std::int64_t rowsEach = std::max(1, schedule.rowsPerWorkgroup);

  KernelPlan plan;
  addBuffers(norm, plan);
  LaunchPlan &launch = plan.launches.emplace_back();
  launch.role = "main";
  launch.waves = schedule.waves();
  launch.workgroups = ceilDiv<std::int64_t>(norm.rows, rowsEach);
  launch.tileM = schedule.rowsPerWorkgroup;
  launch.tileN = static_cast<std::int32_t>(norm.cols);
  launch.mapping = {launch.workgroups, 1, 1, 1, 0};
  addTraffic(norm, schedule, launch);
  if (schedule.wavesPerRow > 1) {
    const std::int32_t bytes = 4 * schedule.waves(); // one f32 a wave
    launch.lds.push_back({TileOperand::sum, bytes, 1, bytes, false});
    launch.ldsBytes = bytes;
  }
  launch.registers = registerUse(norm, schedule);
  launch.occupancy = occupancy(target, launch.registers.vgpr(), launch.registers.agpr(),
                               launch.ldsBytes, launch.waves);
  Inline<std::int32_t, 8> trips;
  addRegions(norm, schedule, launch, trips);
  const auto addKind = [&](std::string_view name, std::int64_t count, std::int64_t rows) {
    if (count > 0) {
      launch.kinds.push_back({name, count, trips, static_cast<std::int32_t>(rows), launch.tileN});
    }
  };
  addKind("interior", norm.rows / rowsEach, rowsEach);
  addKind("edge", norm.rows % rowsEach != 0 ? 1 : 0, norm.rows % rowsEach);
  return plan;
}

UnfinishedLoop loopOf(const Problem &problem, const Schedule &schedule, const Target &target,
                      const Region &region) {
  return rmsNormLoop(problem.rmsnorm(), std::get<RmsNormSchedule>(schedule), target, region.kind);
}

std::vector<std::pair<std::string, std::int64_t>> sizesOf(const Problem &problem) {
  return {{"rows", problem.rmsnorm().rows}};
}

KernelInterface interfaceOf(const Problem &problem, const Schedule &any, const Target &target) {
  const auto &schedule = std::get<RmsNormSchedule>(any);
  constexpr std::int64_t largestGrid = (std::int64_t(1) << 32) - 1; ///< work-items [AQL]
  LaunchInterface launch;
  launch.kernel = kernelName(problem, any);
  launch.grid = {fmt::format("ceildiv(rows, {})", schedule.rowsPerWorkgroup), "1", "1"};
  launch.block = {static_cast<std::uint32_t>(schedule.waves() * target.waveSize), 1, 1};
  for (const PlanBuffer &buffer : makePlan(problem, any, target).buffers) {
    addArgument(launch, std::string(buffer.name), KernelArgument::Kind::pointer);
  }
  addArgument(launch, "rows", KernelArgument::Kind::i32);
  addArgument(launch, "eps", KernelArgument::Kind::f32);
  KernelInterface interface;
  interface.sizes = {"rows"};
  interface.guards = {
      "rows >= 1",
      fmt::format("rows <= {}",
                  std::min<std::int64_t>(2147483647, largestGrid / (schedule.wavesPerRow * 64)))};
  interface.launches.push_back(std::move(launch));
  return interface;
}

std::string stem(const Problem &problem, const Schedule &any) {
  const RmsNorm &norm = problem.rmsnorm();
  const auto &schedule = std::get<RmsNormSchedule>(any);
  return fmt::format("rmsnorm_{}{}_c{}_w{}r{}", name(norm.type), norm.residual ? "_residual" : "",
                     norm.cols, schedule.wavesPerRow, schedule.rowsPerWorkgroup);
}

} // namespace

const Planner &rmsNormPlanner() {
  static const Planner planner{planRmsNorm, loopOf, interfaceOf, sizesOf, stem};
  return planner;
}

} // namespace kw
