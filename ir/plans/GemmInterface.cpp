// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/GemmInterface.h"

#include "ir/KernelPlan.h"
#include "ir/OperandLayout.h"
#include "ir/PreshuffledLayout.h"
#include "ir/plans/GemmResult.h"
#include "ir/plans/GemmSplit.h"

#include <algorithm>
#include <fmt/format.h>

namespace kw {
namespace {

/// Work-items of a launch are counted in 32 bits. [AQL dispatch packet]
constexpr std::int64_t largestGrid = (std::int64_t(1) << 32) - 1;
constexpr std::int64_t largestArgument = 2147483647;

struct Stride {
  std::string_view name, batchName;
  std::int64_t row = 0;     ///< elements that a row must hold
  std::int64_t rows = 0;    ///< over which one offset reaches
  std::int64_t divisor = 1; ///< elements of one access
  int elementBytes = 2;
};

void addGuards(const Stride &stride, bool rowIsM, std::vector<std::string> &guards) {
  guards.push_back(rowIsM ? fmt::format("{} >= m", stride.name)
                          : fmt::format("{} >= {}", stride.name, stride.row));
  guards.push_back(
      fmt::format("{} <= {}", stride.name,
                  std::min(largestArgument, largestOffset / (stride.rows * stride.elementBytes))));
  if (stride.divisor > 1) {
    if (rowIsM) {
      guards.push_back(fmt::format("m % {} == 0", stride.divisor));
    }
    guards.push_back(fmt::format("{} % {} == 0", stride.name, stride.divisor));
    guards.push_back(fmt::format("{} % {} == 0", stride.batchName, stride.divisor));
  }
}

int elementBytes(ElementType type) { return std::max(1, bitWidth(type) / 8); }

/// Output tiles of one product times `factor`, as an expression.
std::string tilesOf(const Gemm &gemm, const GemmSchedule &schedule, std::int64_t factor) {
  const std::int64_t tilesN = ceilDiv<std::int64_t>(gemm.n, schedule.tiling.n);
  return fmt::format("ceildiv(m, {}) * {}", schedule.tiling.m, tilesN * factor);
}

/// K steps of all tiles of all products, of a stream-K grid.
std::string stepsOf(const Gemm &gemm, const GemmSchedule &schedule) {
  return tilesOf(gemm, schedule, kSteps(gemm, schedule.tiling.k)) + " * batch";
}

std::vector<std::string> guardsOf(const Gemm &gemm, const GemmSchedule &schedule) {
  const auto &tiling = schedule.tiling;
  const int aBytes = elementBytes(gemm.aType), bBytes = elementBytes(gemm.bType);
  const bool ka = gemm.aKContiguous(), kb = gemm.bKContiguous();
  const std::int64_t tilesN = ceilDiv<std::int64_t>(gemm.n, tiling.n);
  const std::int64_t tilesM =
      largestGrid / (std::int64_t(schedule.waves()) * 64 * tilesN * schedule.split.k);

  std::vector<std::string> guards{
      "m >= 1", fmt::format("m <= {}", std::min(largestArgument, tilesM * tiling.m)), "batch >= 1",
      fmt::format("batch <= {}", largestBatch)};
  addGuards({"lda", "sa", gemm.k, ka ? tiling.m : gemm.k, schedule.a.vectorBytes / aBytes, aBytes},
            !ka, guards);
  if (isStream(schedule)) {
    guards.push_back(fmt::format("{} <= {}", stepsOf(gemm, schedule), largestArgument));
  }
  if (gemm.preshuffle) {
    guards.push_back(fmt::format("sb % {} == 0", preshuffledLayout(gemm).packElements()));
  } else {
    addGuards({"ldb", "sb", kb ? gemm.k : gemm.n, kb ? tiling.n : gemm.k,
               schedule.b.vectorBytes / bBytes, bBytes},
              false, guards);
  }
  const int outBytes = elementBytes(gemm.outType);
  addGuards(
      {"ldc", "sc", gemm.n, tiling.m, resultStores(gemm, schedule).bytes / outBytes, outBytes},
      false, guards);
  return guards;
}

/// Workgroups along x.
std::string gridOf(const Problem &problem, const Schedule &any, const Target &target) {
  const Gemm &gemm = problem.gemm();
  const auto &schedule = std::get<GemmSchedule>(any);
  const std::string pieces =
      isStream(schedule) ? stepsOf(gemm, schedule) : tilesOf(gemm, schedule, schedule.split.k);
  const std::int64_t walkers = makePlan(problem, any, target).launches.front().mapping.walkers;
  return walkers > 0 ? fmt::format("min({}, {})", pieces, walkers) : pieces;
}

} // namespace

KernelInterface gemmInterface(const Problem &problem, const Schedule &any, const Target &target) {
  const Gemm &gemm = problem.gemm();
  const auto &schedule = std::get<GemmSchedule>(any);
  LaunchInterface launch;
  launch.kernel = kernelName(problem, any);
  const std::string grid = gridOf(problem, any, target);
  launch.grid = {grid, isStream(schedule) ? "1" : "batch", "1"};
  launch.block = {static_cast<std::uint32_t>(schedule.waves() * target.waveSize), 1, 1};
  for (const char *buffer : {"a", "b", "c"}) {
    addArgument(launch, buffer, KernelArgument::Kind::pointer);
  }
  for (const ResultInput &input : resultInputs(gemm)) {
    if (input.operand != TileOperand::c) {
      addArgument(launch, std::string(name(input.operand)), KernelArgument::Kind::pointer);
    }
  }
  KernelInterface interface;
  interface.workspaces = splitWorkspaces(
      schedule, isStream(schedule) ? grid : tilesOf(gemm, schedule, 1) + " * batch");
  for (const WorkspaceInterface &workspace : interface.workspaces) {
    addArgument(launch, workspace.name, KernelArgument::Kind::pointer);
  }
  for (const char *size : {"m", "lda", "ldb", "ldc"}) {
    addArgument(launch, size, KernelArgument::Kind::i32);
  }
  for (const char *stride : {"sa", "sb", "sc"}) {
    addArgument(launch, stride, KernelArgument::Kind::i64);
  }
  for (const auto &[name, value] : gemmSizes(problem)) {
    interface.sizes.push_back(name);
  }
  if (isStream(schedule)) {
    addArgument(launch, "batch", KernelArgument::Kind::i32);
  }
  if (gemm.alpha != 1) {
    addArgument(launch, "alpha", KernelArgument::Kind::f32);
  }
  if (gemm.beta != 0) {
    addArgument(launch, "beta", KernelArgument::Kind::f32);
  }
  interface.launches.push_back(std::move(launch));
  interface.guards = guardsOf(gemm, schedule);
  return interface;
}

std::vector<std::pair<std::string, std::int64_t>> gemmSizes(const Problem &problem) {
  const Gemm &gemm = problem.gemm();
  return {{"m", gemm.m},         {"lda", gemm.lda}, {"ldb", gemm.ldb}, {"ldc", gemm.ldc},
          {"batch", gemm.batch}, {"sa", gemm.sa},   {"sb", gemm.sb},   {"sc", gemm.sc}};
}

std::string gemmStem(const Problem &problem, const Schedule &any) {
  const Gemm &gemm = problem.gemm();
  const auto &schedule = std::get<GemmSchedule>(any);
  const auto &tiling = schedule.tiling;
  return fmt::format("gemm_{}_{}{}_n{}_k{}_{}x{}x{}_w{}x{}", name(gemm.aType),
                     gemm.aKContiguous() ? "mk" : "km", gemm.bKContiguous() ? "nk" : "kn", gemm.n,
                     gemm.k, tiling.m, tiling.n, tiling.k, tiling.wavesM, tiling.wavesN);
}

} // namespace kw
