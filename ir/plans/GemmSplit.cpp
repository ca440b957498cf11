// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/GemmSplit.h"

#include "ir/OperandLayout.h"
#include "ir/plans/Plans.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace kw {
namespace {

constexpr std::int64_t floatBytes = 4, arrivalBytes = 4;
constexpr std::int64_t streamSlots = 2;
constexpr int quadElements = 64 * 4; ///< of a wave's four registers

bool isAtomic(const GemmSchedule &schedule) { return schedule.split.reduce == Reduction::atomic; }

std::int64_t tilePartialBytes(const GemmSchedule &schedule) {
  return partialsPerTile(schedule) * resultWaves(schedule) * partialWaveBytes(schedule);
}
std::int64_t tileArrivalBytes(const GemmSchedule &schedule) {
  return resultWaves(schedule) * arrivalBytes;
}

} // namespace

std::int64_t splitSteps(const Gemm &gemm, const GemmSchedule &schedule) {
  return ceilDiv<std::int64_t>(kSteps(gemm, schedule.tiling.k), schedule.split.k);
}

StepRange splitRange(const Gemm &gemm, const GemmSchedule &schedule, int split) {
  const std::int64_t each = splitSteps(gemm, schedule);
  const std::int64_t first = split * each;
  return {first, std::clamp<std::int64_t>(kSteps(gemm, schedule.tiling.k) - first, 0, each)};
}

std::int64_t partialWaveBytes(const GemmSchedule &schedule) {
  return std::int64_t{schedule.waveTileM()} * schedule.waveTileN() * floatBytes;
}

std::int64_t sliceBytes(const GemmSchedule &schedule) {
  return (schedule.tiling.wavesK - 1) * resultWaves(schedule) * partialWaveBytes(schedule);
}

std::int64_t partialsPerTile(const GemmSchedule &schedule) {
  return isAtomic(schedule) ? 1 : isStream(schedule) ? streamSlots : schedule.split.k;
}

PartialGroup partialGroup(const GemmSchedule &schedule, int vgprs) {
  // Few loops over the parts first, then loads that hide their latency.
  constexpr std::array groups{PartialGroup{32, 16}, PartialGroup{32, 8}, PartialGroup{16, 16},
                              PartialGroup{16, 8}, PartialGroup{8, 8}};
  const bool beside = schedule.accumulator == AccumulatorFile::agpr;
  const int all = ceilDiv(schedule.waveTileM() * schedule.waveTileN(), quadElements);
  PartialGroup chosen;
  for (const PartialGroup &group : groups) {
    chosen.quads = std::min(group.quads, all);
    chosen.inFlight = std::min(group.inFlight, chosen.quads);
    if (chosen.vgprs(beside) <= vgprs) {
      break;
    }
  }
  return chosen;
}

int leastPartialRegisters(const GemmSchedule &schedule) {
  return partialGroup(schedule, 0).vgprs(schedule.accumulator == AccumulatorFile::agpr);
}

Inline<PlanBuffer, 2> splitBuffers(const GemmSchedule &schedule, std::int64_t count) {
  if (!sharesTiles(schedule)) {
    return {};
  }
  const bool atomic = isAtomic(schedule);
  return {{partialsName, BufferRole::workspace, count * tilePartialBytes(schedule), atomic, atomic},
          {arrivalsName, BufferRole::workspace, count * tileArrivalBytes(schedule), true, true}};
}

std::vector<WorkspaceInterface> splitWorkspaces(const GemmSchedule &schedule,
                                                const std::string &count) {
  std::vector<WorkspaceInterface> workspaces;
  for (const PlanBuffer &buffer : splitBuffers(schedule, 1)) {
    workspaces.push_back({std::string(buffer.name), fmt::format("{} * {}", count, buffer.bytes),
                          buffer.zeroedBefore, buffer.resetAfter});
  }
  return workspaces;
}

} // namespace kw
