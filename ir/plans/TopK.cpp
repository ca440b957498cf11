// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of a top-k: one launch; a workgroup does `rowsPerWorkgroup` rows at the same time.
#include "ir/Occupancy.h"
#include "ir/plans/Plans.h"
#include "ir/plans/TopKLoop.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace kw {
namespace {

constexpr std::int64_t entryBytes = 8; ///< value and column
constexpr std::int64_t candidates = 64, lanes = 64;

std::int32_t narrow(std::int64_t value) {
  return static_cast<std::int32_t>(std::min<std::int64_t>(value, 2147483647));
}

void addTraffic(const TopKSelection &op, const TopKSchedule &schedule, LaunchPlan &launch) {
  const auto add = [&](TileOperand operand, bool write, std::int64_t columns, ElementType type,
                       std::int32_t vectorBytes) {
    TileTraffic traffic;
    traffic.operand = operand;
    traffic.write = write;
    traffic.rows = schedule.rowsPerWorkgroup;
    traffic.bytesPerRow = traffic.pitchBytes = bytesOf(type, columns);
    traffic.vectorBytes = vectorBytes;
    traffic.perTrip = false;
    traffic.byTileM = true;
    launch.traffic.push_back(traffic);
  };
  add(TileOperand::x, false, op.cols, op.type, schedule.vectorBytes);
  add(TileOperand::y, true, op.k, op.type, bitWidth(op.type) / 8);
  add(TileOperand::aux, true, op.k, op.indexType, bitWidth(op.indexType) / 8);
}

/// Candidates of each wave; lists of the waves of a row.
std::int64_t ldsBytes(const TopKSelection &op, const TopKSchedule &schedule) {
  const std::int64_t lists = schedule.wavesPerRow > 1 ? listEntries(op) : 0;
  return schedule.waves() * (2 * candidates + lists) * entryBytes;
}

RegisterUse registerUse(const TopKSelection &op, const TopKSchedule &schedule) {
  constexpr int base = 24;               ///< row, columns, threshold, masks, one exchange
  constexpr std::int64_t tooMany = 1024; // far above any register file
  const auto list = static_cast<int>(std::min(tooMany, listEntries(op) / lanes));
  RegisterUse use;
  use.accumulators = 2 * list;
  use.fragments = schedule.wavesPerRow > 1 ? 2 * list : 2;
  use.staging = (schedule.prefetch + 1) * std::max(1, schedule.vectorBytes / 4);
  use.addresses = base;
  return use;
}

LoopKey loopKey(const TopKSchedule &schedule, RegionKind region) {
  return LoopKeyPacker()
      .add(static_cast<std::uint64_t>(region), 3)
      .add(
          static_cast<std::uint64_t>(std::countr_zero(static_cast<unsigned>(schedule.vectorBytes))),
          3)
      .add(static_cast<std::uint64_t>(schedule.wavesPerRow), 5)
      .add(static_cast<std::uint64_t>(schedule.rowsPerWorkgroup), 5)
      .add(static_cast<std::uint64_t>(schedule.prefetch), 5)
      .key();
}

KernelPlan planTopK(const Problem &problem, const Schedule &any, const Target &target) {
  const TopKSelection &op = problem.topk();
  const auto &schedule = std::get<TopKSchedule>(any);
  KernelPlan plan;
  plan.buffers = {{"x", BufferRole::input, bytesOf(op.type, op.rows * op.cols)},
                  {"values", BufferRole::output, bytesOf(op.type, op.rows * op.k)},
                  {"indices", BufferRole::output, bytesOf(op.indexType, op.rows * op.k)}};
  LaunchPlan &launch = plan.launches.emplace_back();
  launch.role = "main";
  launch.waves = schedule.waves();
  launch.workgroups = ceilDiv<std::int64_t>(op.rows, schedule.rowsPerWorkgroup);
  launch.tileM = schedule.rowsPerWorkgroup;
  launch.tileN = narrow(op.k);
  launch.mapping = {launch.workgroups, 1, 1, 1, 0};
  addTraffic(op, schedule, launch);
  launch.ldsBytes = narrow(ldsBytes(op, schedule));
  launch.lds.push_back({TileOperand::partial, launch.ldsBytes, 1, launch.ldsBytes, false});
  launch.registers = registerUse(op, schedule);
  launch.occupancy = occupancy(target, launch.registers.vgpr(), 0, launch.ldsBytes, launch.waves);
  Inline<std::int32_t, 8> trips;
  const auto region = [&](RegionKind kind, std::int64_t count) {
    launch.regions.push_back({kind, 0, loopKey(schedule, kind)});
    trips.push_back(narrow(count));
  };
  region(RegionKind::prologue, 1);
  region(RegionKind::mainLoop, rowTrips(op, schedule));
  region(RegionKind::softmax, expectedMerges(op, schedule));
  if (schedule.wavesPerRow > 1) {
    region(RegionKind::reduction, 1);
  }
  region(RegionKind::epilogue, 1);
  const auto kind = [&](std::string_view name, std::int64_t count, std::int64_t rows) {
    if (count > 0) {
      launch.kinds.push_back({name, count, trips, static_cast<std::int32_t>(rows), launch.tileN});
    }
  };
  kind("interior", op.rows / schedule.rowsPerWorkgroup, schedule.rowsPerWorkgroup);
  kind("edge", op.rows % schedule.rowsPerWorkgroup != 0 ? 1 : 0,
       op.rows % schedule.rowsPerWorkgroup);
  return plan;
}

UnfinishedLoop loopOf(const Problem &problem, const Schedule &schedule, const Target &target,
                      const Region &region) {
  return topKLoop(problem.topk(), std::get<TopKSchedule>(schedule), target, region.kind);
}

std::vector<std::pair<std::string, std::int64_t>> sizesOf(const Problem &problem) {
  return {{"rows", problem.topk().rows}};
}

std::string stem(const Problem &problem, const Schedule &any) {
  const TopKSelection &op = problem.topk();
  const auto &schedule = std::get<TopKSchedule>(any);
  return fmt::format("topk_{}_c{}_k{}_w{}r{}", name(op.type), op.cols, op.k, schedule.wavesPerRow,
                     schedule.rowsPerWorkgroup);
}

} // namespace

const Planner &topKPlanner() {
  static const Planner planner{planTopK, loopOf, nullptr, sizesOf, stem};
  return planner;
}

} // namespace kw
