// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of a grouped product: that of a GEMM with the tallest group's rows, in which the numbers
// of workgroups, the traffic of the whole launch and the grid are those of all groups. Before its
// first loads a workgroup reads which tokens its rows are.
#include "ir/plans/GroupedGemm.h"

#include "ir/plans/GemmLoop.h"
#include "ir/plans/OperationCosts.h"
#include "ir/plans/Plans.h"

#include <algorithm>
#include <fmt/format.h>

namespace kw {
namespace {

constexpr LoopKey gatherKey = ~LoopKey(0) - 1;

const GemmSchedule &gemmOf(const Schedule &schedule) {
  return std::get<GroupedGemmSchedule>(schedule).gemm;
}

/// Edges of groups have different heights: two kinds with the right number of rows in all.
void addKinds(const GroupTiles &tiles, const Gemm &product, LaunchPlan &launch) {
  const Inline<std::int32_t, 8> trips = launch.kinds.front().trips;
  const std::int64_t fullN = product.n / launch.tileN;
  const auto restN = static_cast<std::int32_t>(product.n % launch.tileN);
  launch.kinds.clear();
  const auto add = [&](std::string_view name, std::int64_t count, std::int64_t usefulM,
                       std::int32_t usefulN) {
    if (count > 0) {
      launch.kinds.push_back({name, count, trips, static_cast<std::int32_t>(usefulM), usefulN});
    }
  };
  const std::int64_t lower = tiles.edges > 0 ? tiles.rest / tiles.edges : 0;
  const std::int64_t higher = tiles.edges > 0 ? tiles.rest % tiles.edges : 0;
  const auto addColumns = [&](std::int64_t columns, std::int32_t usefulN, bool isEdge) {
    add(isEdge ? "edgeN" : "interior", tiles.full * columns, launch.tileM, usefulN);
    add(isEdge ? "corner" : "edgeM", (tiles.edges - higher) * columns, lower, usefulN);
    add(isEdge ? "corner" : "edgeM", higher * columns, lower + 1, usefulN);
  };
  addColumns(fullN, launch.tileN, false);
  addColumns(restN > 0 ? 1 : 0, restN, true);
}

/// Tokens are read once however many groups they go to, weights of groups that have rows once.
void setTraffic(const GroupedGemm &op, LaunchPlan &launch) {
  const Gemm &product = op.product;
  const auto share = [&](std::int64_t rows, std::int64_t bytes) {
    return std::max<std::int64_t>(1, rows * bytes);
  };
  for (TileTraffic &traffic : launch.traffic) {
    switch (traffic.operand) {
    case TileOperand::a:
      traffic.launchBytes = share(op.tokens, product.k * bitWidth(product.aType) / 8);
      break;
    case TileOperand::b:
      traffic.launchBytes =
          share(op.activeGroups(), product.n * product.k * bitWidth(product.bType) / 8);
      break;
    default:
      break;
    }
    traffic.byBatch = true; // nothing is common to all groups
  }
}

void setBuffers(const GroupedGemm &op, KernelPlan &plan) {
  const Gemm &product = op.product;
  const std::int64_t columns = op.resultColumns();
  plan.buffers[0].bytes = bytesOf(product.aType, op.tokens * product.k);
  plan.buffers[1].bytes = bytesOf(product.bType, op.groups * product.sb);
  plan.buffers[2].bytes = bytesOf(product.outType, op.rows() * columns);
}

KernelPlan planGroupedGemm(const Problem &problem, const Schedule &any, const Target &target) {
  const GroupedGemm &op = problem.groupedGemm();
  const GemmSchedule &schedule = gemmOf(any);
  KernelPlan plan = gemmPlanner().plan(Problem{op.product}, schedule, target);
  LaunchPlan &launch = plan.launches.front();
  const GroupTiles tiles = groupTiles(op, schedule.tiling);
  setBuffers(op, plan);
  setTraffic(op, launch);
  // Tiles of a group share its weights: the grid of an average group, repeated.
  launch.mapping.tilesM =
      std::max<std::int64_t>(1, (tiles.alongM() + op.activeGroups() / 2) / op.activeGroups());
  launch.mapping.tilesN = tiles.n;
  launch.mapping.batches = op.activeGroups();
  launch.workgroups =
      launch.mapping.walkers > 0 ? std::min(launch.mapping.walkers, tiles.tiles()) : tiles.tiles();
  addKinds(tiles, op.product, launch);
  launch.regions.insert(launch.regions.begin(), {RegionKind::prologue, 0, gatherKey});
  for (WorkgroupKind &kind : launch.kinds) {
    kind.trips.insert(kind.trips.begin(), 1);
  }
  return plan;
}

/// Which tokens and which group: one load that everything else waits for.
UnfinishedLoop gather(const GroupedGemm &, const GemmSchedule &schedule, const Target &target) {
  LoopBuilder builder(target, {schedule.waves(), 1, target.simdsPerCu});
  TileOp setUp{TileOpKind::vector};
  setUp.count = 20; // search of the group among the offsets [A]
  const int searched = builder.add(setUp, vectorUse(target, setUp.count));
  TileOp load{TileOpKind::globalLoad, TileOperand::weight};
  ResourceUse use = issueOf(1);
  use.vectorMemory = 4.0F * float(target.waveSize) / float(target.l1BytesPerClock);
  const int loaded = builder.add(load, use);
  builder.depend(searched, loaded, setUp.count * target.valuCycles);
  TileOp wait{TileOpKind::wait, TileOperand::weight};
  wait.pendingVector = 0;
  builder.depend(loaded, builder.add(wait, issueOf(1)), target.l2LatencyCycles);
  return {std::move(builder), LoopOrder::serial};
}

UnfinishedLoop loopOf(const Problem &problem, const Schedule &schedule, const Target &target,
                      const Region &region) {
  const GroupedGemm &op = problem.groupedGemm();
  return region.loop == gatherKey ? gather(op, gemmOf(schedule), target)
                                  : gemmLoop(op.product, gemmOf(schedule), target, region);
}

std::vector<std::pair<std::string, std::int64_t>> sizesOf(const Problem &problem) {
  return {{"tokens", problem.groupedGemm().tokens}};
}

std::string stem(const Problem &problem, const Schedule &any) {
  const GroupedGemm &op = problem.groupedGemm();
  const auto &tiling = gemmOf(any).tiling;
  return fmt::format("grouped_gemm_{}_g{}_n{}_k{}_{}x{}x{}", name(op.product.aType), op.groups,
                     op.product.n, op.product.k, tiling.m, tiling.n, tiling.k);
}

} // namespace

GroupTiles groupTiles(const GroupedGemm &op, const GemmSchedule::Tiling &tiling) {
  GroupTiles tiles;
  tiles.n = ceilDiv<std::int64_t>(op.product.n, tiling.n);
  for (const GroupHeight &height : op.heights) {
    const std::int64_t rest = height.rows % tiling.m;
    tiles.full += height.groups * (height.rows / tiling.m);
    tiles.edges += rest > 0 ? height.groups : 0;
    tiles.rest += height.groups * rest;
  }
  return tiles;
}

const Planner &groupedGemmPlanner() {
  static const Planner planner{planGroupedGemm, loopOf, nullptr, sizesOf, stem};
  return planner;
}

} // namespace kw
