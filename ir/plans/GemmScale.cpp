// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/GemmScale.h"

#include "ir/plans/Plans.h"

#include <algorithm>

namespace kw {
namespace {

constexpr int lanes = 64, registerBytes = 4, widestLoad = 16;

/// Fragments along one side of a wave's tile, and slices of its part of a step.
struct WaveTile {
  int fragments = 1, slices = 1;
};
WaveTile waveTile(const GemmSchedule &schedule, bool isA) {
  const auto &tiling = schedule.tiling;
  const int side = isA ? schedule.waveTileM() : schedule.waveTileN();
  return {ceilDiv(std::max(1, side), isA ? tiling.mfmaM : tiling.mfmaN),
          ceilDiv(tiling.k, tiling.mfmaK * tiling.wavesK)};
}

/// Of one fragment of the result.
int registersOf(const GemmSchedule::Tiling &tiling) {
  return ceilDiv(tiling.mfmaM * tiling.mfmaN, lanes);
}

/// A byte a lane, fragment and slice.
ScaleTile mxTile(const GemmSchedule &schedule, bool isA) {
  const auto &tiling = schedule.tiling;
  const WaveTile tile = waveTile(schedule, isA);
  ScaleTile scale{isA ? TileOperand::scaleA : TileOperand::scaleB};
  scale.registers = ceilDiv(tile.fragments * tile.slices, registerBytes);
  scale.bytes = std::min(widestLoad, scale.registers * registerBytes);
  scale.loads = ceilDiv(scale.registers * registerBytes, widestLoad);
  scale.stepBytes = std::int64_t(isA ? tiling.m : tiling.n) * ceilDiv(tiling.k, mxBlock);
  return scale;
}

/// Of a: the rows of a lane's accumulators, four neighbours a load; of b: one number for 128
/// columns.
ScaleTile blockTile(const GemmSchedule &schedule, bool isA) {
  const auto &tiling = schedule.tiling;
  const WaveTile tile = waveTile(schedule, isA);
  const int blocks = ceilDiv(tiling.k, scaleBlock * tiling.wavesK);
  ScaleTile scale{isA ? TileOperand::scaleA : TileOperand::scaleB};
  scale.bytes = isA ? widestLoad : registerBytes;
  scale.loads = blocks * (isA ? tile.fragments * ceilDiv(registersOf(tiling), widestLoad / 4)
                              : ceilDiv(std::max(1, schedule.waveTileN()), scaleBlock));
  scale.registers = scale.loads * scale.bytes / registerBytes;
  scale.stepBytes = std::int64_t(registerBytes) * ceilDiv(tiling.k, scaleBlock) *
                    (isA ? tiling.m : ceilDiv(tiling.n, scaleBlock));
  return scale;
}

} // namespace

Inline<ScaleTile, 2> scaleTiles(const Gemm &gemm, const GemmSchedule &schedule) {
  Inline<ScaleTile, 2> tiles;
  for (const bool isA : {true, false}) {
    const ScaleMode mode = isA ? gemm.aScale : gemm.bScale;
    if (mode == ScaleMode::mx) {
      tiles.push_back(mxTile(schedule, isA));
    } else if (mode == ScaleMode::block128) {
      tiles.push_back(blockTile(schedule, isA));
    }
  }
  return tiles;
}

int scalesAhead(const GemmSchedule &schedule) {
  const auto &pipeline = schedule.pipeline;
  return pipeline.stages > 1 ? pipeline.stages - 1 : std::min(1, pipeline.prefetch);
}

BlockScaling blockScaling(const Gemm &gemm, const GemmSchedule &schedule) {
  if (gemm.aScale != ScaleMode::block128 && gemm.bScale != ScaleMode::block128) {
    return {};
  }
  const auto &tiling = schedule.tiling;
  BlockScaling scaling;
  const int registers = registersOf(tiling);
  const int fragments = waveTile(schedule, true).fragments * waveTile(schedule, false).fragments;
  constexpr int inFlight = 4; ///< fragments: the next ones hide the latency of the matrix pipe
  scaling.lag = std::min(fragments, inFlight) - 1;
  scaling.slices = std::max(1, scaleBlock / tiling.mfmaK);
  // Product of both scales and a multiply-add for each register; integers are converted before.
  scaling.instructions = registers * (gemm.accType == ElementType::i32 ? 3 : 2);
  scaling.liveFragments = scaling.slices > 1 ? fragments : scaling.lag + 1;
  return scaling;
}

int scaleRegisters(const Gemm &gemm, const GemmSchedule &schedule) {
  const auto &tiling = schedule.tiling;
  int registers = 0;
  for (const ScaleTile &tile : scaleTiles(gemm, schedule)) {
    registers += tile.registers * (1 + scalesAhead(schedule));
  }
  return registers + blockScaling(gemm, schedule).liveFragments * registersOf(tiling);
}

TileTraffic scaleTraffic(const ScaleTile &scale) {
  TileTraffic traffic;
  traffic.operand = scale.operand;
  traffic.rows = 1;
  traffic.bytesPerRow = scale.stepBytes;
  traffic.vectorBytes = scale.bytes;
  traffic.byTileM = scale.operand == TileOperand::scaleA;
  traffic.byTileN = scale.operand == TileOperand::scaleB;
  traffic.byBatch = false; // the same for all of a batch
  traffic.alongTrips = true;
  return traffic;
}

} // namespace kw
