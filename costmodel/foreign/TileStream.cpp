// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/foreign/TileStream.h"

#include <algorithm>
#include <cmath>

namespace kw {

TileLaunch secondLaunch(const TileProblem &problem, const SetTileKernel &kernel,
                        const Target &target) {
  constexpr int waves = 4, elementsPerLane = 8, partialBytes = 4;
  const int elements = waves * target.waveSize * elementsPerLane; // of a workgroup
  const double results =
      problem.products * problem.rows * double(problem.n) / problem.rowsPerResult;
  TileLaunch result;
  LaunchPlan &launch = result.plan;
  launch.role = "combine";
  launch.waves = waves;
  launch.workgroups = std::max<std::int64_t>(1, std::llround(std::ceil(results / elements)));
  launch.tileM = 1;
  launch.tileN = elements;
  launch.mapping = {1, launch.workgroups, 1, 1, 0};
  launch.registers.addresses = 32;
  launch.occupancy = target.maxWavesPerSimd;
  launch.kinds.push_back({"mean", launch.workgroups, {}, 1, elements});
  TileTraffic written{
      TileOperand::c, true, 1, std::int64_t(elements) * bitWidth(problem.out) / 8, 16, 0};
  written.perTrip = false;
  written.byTileN = true;
  launch.traffic.push_back(written);
  LoopSummary loop;
  loop.length = float(target.waveSize);
  if (kernel.reduction == TileReduction::launch) {
    TileTraffic read{
        TileOperand::partial, false, kernel.splitK, std::int64_t(elements) * partialBytes, 16, 0};
    read.perTrip = false;
    read.byTileN = true;
    read.operand = TileOperand::x; // read like an operand: the launch before has written it
    launch.traffic.push_back(read);
    loop.length = float(target.mallLatencyCycles);
  }
  launch.regions.push_back({RegionKind::epilogue, 0, 0});
  launch.kinds.front().trips.push_back(1);
  result.loops.push_back(loop);
  return result;
}

} // namespace kw
