// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/TileEfficiency.h"

#include "costmodel/CostModel.h"
#include "ir/Problem.h"
#include "ir/Rule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

constexpr std::array<std::string_view, 8> columns{
    "tile_m", "tile_n", "tile_k", "waves", "workgroups", "K", "dtype", "measured_mfma_eff_pct"};

/// As the traced kernels found it: operands in the caches, no limit of power.
Target warmed(Target target) {
  constexpr double unlimited = 1e30;
  target.hbmLatencyCycles = target.l2LatencyCycles;
  target.hbmBytesPerSecond = unlimited;
  target.sustainedFraction16 = target.sustainedFraction8 = target.sustainedFraction4 = unlimited;
  return target;
}

/// Schedules with the tile whose loops differ; `instruction` multiplies.
void addSchedules(const TileEfficiency &row, const MatrixInstruction &instruction,
                  std::vector<GemmSchedule> &all) {
  GemmSchedule schedule;
  schedule.tiling.mfmaM = instruction.m;
  schedule.tiling.mfmaN = instruction.n;
  schedule.tiling.mfmaK = instruction.k;
  schedule.tiling.m = row.tileM;
  schedule.tiling.n = row.tileN;
  schedule.tiling.k = row.tileK;
  for (int wavesM = 1; wavesM <= row.waves; wavesM *= 2) {
    schedule.tiling.wavesM = wavesM;
    schedule.tiling.wavesN = row.waves / wavesM;
    for (const int stages : {1, 2, 3, 4}) {
      schedule.pipeline.stages = stages;
      schedule.pipeline.prefetch = stages - 1;
      for (const LoopOrder order : {LoopOrder::serial, LoopOrder::interleaved}) {
        schedule.pipeline.order = order;
        for (const int ahead : {0, 1, 2}) {
          schedule.pipeline.fragmentsAhead = ahead;
          for (const AccumulatorFile file : {AccumulatorFile::vgpr, AccumulatorFile::agpr}) {
            schedule.accumulator = file;
            for (const bool quadrants : {false, true}) {
              schedule.pipeline.quadrants = quadrants;
              all.push_back(schedule);
            }
          }
        }
      }
    }
  }
}

std::vector<GemmSchedule> schedulesOf(const TileEfficiency &row, const Problem &problem,
                                      const Target &target) {
  std::vector<GemmSchedule> all;
  for (const MatrixInstruction &instruction : target.matrixInstructions) {
    if (instruction.a == problem.gemm().aType && instruction.b == problem.gemm().bType) {
      addSchedules(row, instruction, all);
    }
  }
  return all;
}

/// What is neither start nor end of a workgroup or launch.
double loopUs(const Estimate &estimate) {
  double us = estimate.timeUs;
  for (const Term term : {Term::launch, Term::prologue, Term::epilogue, Term::reduction}) {
    us -= estimate.termsUs[static_cast<std::size_t>(term)];
  }
  return us;
}

void predict(TileEfficiency &row, const Problem &problem, const Target &target) {
  CostModel model(problem, target);
  const Gemm &gemm = problem.gemm();
  const double pipesUs = flops(problem) / peakFlops(target, gemm.aType, gemm.bType) * 1e6;
  for (const GemmSchedule &schedule : schedulesOf(row, problem, target)) {
    if (!isLegal(problem, schedule, target)) {
      continue;
    }
    const double efficiency = pipesUs / loopUs(model.estimate(schedule));
    if (efficiency > row.predicted) {
      row.predicted = efficiency;
      row.schedule = print(Schedule(schedule));
    }
  }
}

/// As square a grid as the number of workgroups allows.
std::int64_t gridRows(std::int64_t workgroups) {
  std::int64_t rows = std::max<std::int64_t>(1, std::llround(std::sqrt(double(workgroups))));
  while (workgroups % rows != 0) {
    --rows;
  }
  return rows;
}

} // namespace

bool isTileEfficiencyTable(const TextTable &table) {
  return std::ranges::all_of(columns,
                             [&](std::string_view name) { return table.column(name).has_value(); });
}

Expected<std::vector<TileEfficiency>> tileEfficiencies(const TextTable &table,
                                                       const Target &target) {
  const Target warm = warmed(target);
  std::vector<TileEfficiency> rows;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const std::vector<std::string> cells = table.cells(i);
    std::array<double, columns.size()> values{};
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string &cell = cells[*table.column(columns[c])];
      const auto value = numberIn(cell);
      if (columns[c] != "dtype" && !(value && *value >= 1 && *value <= 1e6)) {
        return badInput(fmt::format("{}: row {}: {}={}: not a number from 1 to 1e6", table.name(),
                                    i + 1, columns[c], cell));
      }
      values[c] = value.value_or(0);
    }
    TileEfficiency &row = rows.emplace_back();
    row.tileM = int(values[0]);
    row.tileN = int(values[1]);
    row.tileK = int(values[2]);
    row.waves = int(values[3]);
    row.measured = values[7] / 100;
    const auto workgroups = std::int64_t(values[4]), m = gridRows(workgroups);
    const auto problem = parseProblem(
        fmt::format("gemm m={} n={} k={} dtype={} b=nk", m * row.tileM, workgroups / m * row.tileN,
                    std::int64_t(values[5]), cells[*table.column("dtype")]));
    if (!problem) {
      return badInput(fmt::format("{}: row {}: {}", table.name(), i + 1, problem.error().message));
    }
    predict(row, *problem, warm);
  }
  return rows;
}

double meanPoints(const std::vector<TileEfficiency> &rows) {
  double sum = 0;
  for (const TileEfficiency &row : rows) {
    sum += std::abs(row.predicted - row.measured);
  }
  return rows.empty() ? 0 : sum / double(rows.size());
}

} // namespace kw
