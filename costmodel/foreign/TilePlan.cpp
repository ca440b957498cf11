// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/foreign/TilePlan.h"

#include "ir/Occupancy.h"

#include <algorithm>
#include <cmath>

namespace kw {
namespace {

constexpr int waveLanes = 64, registerBytes = 4;

std::int64_t ceilOf(std::int64_t size, std::int64_t part) { return (size + part - 1) / part; }

std::int64_t bytesOfRow(ElementType type, std::int64_t elements) {
  return std::max<std::int64_t>(1, elements * bitWidth(type) / 8);
}

/// Scales travel with the elements that they belong to.
std::int64_t withScales(const TileProblem &problem, std::int64_t bytes, std::int64_t elements,
                        bool isA) {
  constexpr int mxElements = 32, blockElements = 128, floatBytes = 4;
  if (problem.scale == ScaleMode::mx && (!isA || bitWidth(problem.a) < 16)) {
    return bytes + elements / mxElements;
  }
  return problem.scale == ScaleMode::block128 && isA ? bytes + elements * floatBytes / blockElements
                                                     : bytes;
}

TileTraffic operandTraffic(const TileProblem &problem, const SetTileKernel &kernel, bool isA) {
  constexpr int packedRows = 16; // of fragment order
  const ElementType type = isA ? problem.a : problem.b;
  TileTraffic traffic;
  traffic.operand = isA ? TileOperand::a : TileOperand::b;
  traffic.rows = isA ? kernel.tileM : kernel.tileN;
  traffic.bytesPerRow = withScales(problem, bytesOfRow(type, kernel.tileK), kernel.tileK, isA);
  traffic.pitchBytes = bytesOfRow(type, problem.k);
  if (!isA && problem.preshuffled) {
    traffic.bytesPerRow *= packedRows;
    traffic.rows = std::max(1, traffic.rows / packedRows);
    traffic.pitchBytes *= packedRows;
  }
  traffic.vectorBytes = 16;
  traffic.byTileM = isA;
  traffic.byTileN = !isA;
  traffic.alongTrips = true;
  return traffic;
}

TileTraffic resultTraffic(const TileProblem &problem, const SetTileKernel &kernel) {
  TileTraffic traffic;
  traffic.operand = TileOperand::c;
  traffic.write = true;
  traffic.rows = kernel.tileM;
  traffic.bytesPerRow = bytesOfRow(problem.out, kernel.tileN / (problem.gated ? 2 : 1));
  traffic.vectorBytes = 16;
  traffic.pitchBytes = bytesOfRow(problem.out, problem.n);
  traffic.perTrip = false;
  traffic.byTileM = traffic.byTileN = true;
  return traffic;
}

/// Atomics add in the result's own type, others keep f32.
TileTraffic partialTraffic(const TileProblem &problem, const SetTileKernel &kernel, bool write) {
  TileTraffic traffic;
  traffic.operand = TileOperand::partial;
  traffic.write = write;
  traffic.rows = kernel.tileM;
  const bool atomic = kernel.reduction == TileReduction::atomic;
  traffic.bytesPerRow =
      atomic ? bytesOfRow(problem.out, kernel.tileN) : std::int64_t(kernel.tileN) * registerBytes;
  traffic.vectorBytes = atomic ? registerBytes : 16;
  traffic.pitchBytes = traffic.bytesPerRow;
  traffic.perTrip = false;
  traffic.byTileM = traffic.byTileN = true;
  return traffic;
}

void addRegisters(const TileProblem &problem, const SetTileKernel &kernel, const Target &target,
                  LaunchPlan &launch) {
  const double perWave = double(kernel.tileM) * kernel.tileN / (kernel.wavesM * kernel.wavesN);
  const double fragments = (double(kernel.tileM) / kernel.wavesM * bitWidth(problem.a) +
                            double(kernel.tileN) / kernel.wavesN * bitWidth(problem.b)) *
                           kernel.tileK / kernel.wavesK / 8 / (waveLanes * registerBytes);
  constexpr int addresses = 40, mostFragments = 128;
  launch.registers.accumulators = int(std::ceil(perWave / waveLanes));
  launch.registers.fragments = int(std::min<double>(fragments, mostFragments));
  launch.registers.addresses = addresses;
  launch.registers.accumulatorsInAgpr = launch.registers.accumulators > 128;
  const std::int64_t stage =
      bytesOfRow(problem.a, std::int64_t(kernel.tileM) * kernel.tileK) +
      (kernel.bInRegisters ? 0 : bytesOfRow(problem.b, std::int64_t(kernel.tileN) * kernel.tileK));
  launch.ldsBytes = int(std::min<std::int64_t>(stage * kernel.stages, target.ldsBytes));
  if (kernel.workgroupsPerCu > 0) { // told: whatever limits it, as a share of the LDS
    launch.ldsBytes =
        target.ldsBytes / kernel.workgroupsPerCu / target.ldsGranule * target.ldsGranule;
  }
  launch.occupancy = occupancy(target, launch.registers.vgpr(), launch.registers.agpr(),
                               launch.ldsBytes, launch.waves);
}

/// Registers of a wave beyond what the told number of resident workgroups leaves it.
int spilledRegisters(const TileProblem &problem, const SetTileKernel &kernel, const Target &target,
                     const RegisterUse &registers) {
  if (!kernel.wholeSteps || kernel.workgroupsPerCu == 0) {
    return 0;
  }
  const int waves =
      kernel.workgroupsPerCu * int(ceilOf(kernel.waves(), target.simdsPerCu)); // of a SIMD
  const int granule = target.vectorRegisterGranule;
  const int left =
      std::min(target.vectorRegisters / waves / granule * granule, target.vectorRegistersPerWave);
  // Where b goes from memory to registers, the next step's b is under way.
  const double ahead = kernel.bInRegisters
                           ? double(kernel.tileN) / kernel.wavesN * kernel.tileK / kernel.wavesK *
                                 bitWidth(problem.b) / 8 / (waveLanes * registerBytes)
                           : 0;
  return std::max(0, registers.vgpr() + registers.agpr() + int(ahead) - left);
}

void addRegion(TileLaunch &launch, RegionKind kind, std::int64_t trips, const LoopSummary &loop) {
  launch.plan.regions.push_back({kind, 0, 0});
  launch.plan.kinds.front().trips.push_back(static_cast<std::int32_t>(trips));
  launch.loops.push_back(loop);
}

} // namespace

TileLaunch tileLaunch(const TileProblem &problem, const SetTileKernel &kernel,
                      const Target &target) {
  const RowTiles rows = rowTiles(problem, kernel.tileM);
  const std::int64_t tilesN = ceilOf(problem.n, kernel.tileN);
  const auto products = std::max<std::int64_t>(1, std::llround(problem.products));
  TileLaunch result;
  LaunchPlan &launch = result.plan;
  launch.role = "main";
  launch.waves = kernel.waves();
  launch.tileM = kernel.tileM;
  launch.tileN = kernel.tileN;
  const double tilesOfProduct = rows.tiles / static_cast<double>(products);
  // Products of experts walk n first, without regard to XCDs [read traffic of counters]; any part
  // of a second tile shares its columns with the first.
  const auto tilesM = std::max<std::int64_t>(
      1, problem.grouped ? std::int64_t(std::ceil(tilesOfProduct)) : std::llround(tilesOfProduct));
  launch.mapping = problem.grouped ? WorkgroupMapping{tilesM, tilesN, products, 1, 0}
                                   : WorkgroupMapping{tilesM, tilesN, products, target.xcds, 8};
  launch.mapping.splits = kernel.splitK;
  const auto count = std::max<std::int64_t>(
      1, std::llround(rows.tiles * static_cast<double>(tilesN) * kernel.splitK));
  if (kernel.persistent) {
    launch.mapping.walkers = target.cus;
  }
  launch.workgroups = count;
  launch.kinds.push_back({"mean",
                          count,
                          {},
                          int(std::lround(rows.useful)),
                          int(std::lround(double(problem.n) / double(tilesN)))});
  launch.traffic = {operandTraffic(problem, kernel, true), operandTraffic(problem, kernel, false)};
  if (kernel.splitK > 1) {
    launch.traffic.push_back(partialTraffic(problem, kernel, true));
  }
  if (kernel.splitK > 1 && kernel.reduction == TileReduction::last) {
    launch.traffic.push_back(partialTraffic(problem, kernel, false));
  }
  if (kernel.splitK == 1 || kernel.reduction == TileReduction::last) {
    launch.traffic.push_back(resultTraffic(problem, kernel));
  }
  addRegisters(problem, kernel, target, launch);
  const std::int64_t steps = ceilOf(ceilOf(problem.k, kernel.tileK), kernel.splitK);
  // Each spilled register waits for its way back from the L2, in order.
  LoopSummary step = tileStep(problem, kernel, target);
  step.recurrence +=
      float(target.l2LatencyCycles * spilledRegisters(problem, kernel, target, launch.registers));
  // Sorted ids, then rows and expert, then the operands.
  addRegion(result, RegionKind::prologue, problem.grouped ? 3 : 1,
            tilePrologue(problem, kernel, target));
  addRegion(result, RegionKind::mainLoop, steps, step);
  if (kernel.splitK > 1) {
    addRegion(result, RegionKind::reduction, 1, tileReduction(problem, kernel, target));
  }
  addRegion(result, RegionKind::epilogue, 1, tileEpilogue(problem, kernel, target));
  return result;
}

} // namespace kw
