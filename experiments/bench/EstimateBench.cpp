// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Estimates a second on one core, with the shipped calibration (constants, residual, interval):
// once every loop summary is known (warm), and over a stretch of the space in the order of the
// exhaustive strategy, summaries made on the way (cold). Published kernels, whose residual is trees
// over what each row tells, are slower.
#include "costmodel/CostModel.h"
#include "costmodel/calibration/Calibration.h"
#include "costmodel/foreign/ForeignModel.h"
#include "ir/KernelPlan.h"
#include "search/Space.h"

#include <benchmark/benchmark.h>

#include <vector>

namespace {

using namespace kw;

Problem problemOf(benchmark::State &state) {
  constexpr std::array<std::string_view, 3> problems{
      "gemm m=4096 n=4096 k=4096 dtype=bf16 b=nk",
      "gemm m=16 n=8192 k=8192 dtype=bf16 b=nk",
      "rmsnorm rows=32768 cols=8192",
  };
  const std::string_view text = problems[static_cast<std::size_t>(state.range(0))];
  state.SetLabel(std::string(text));
  return *parseProblem(text);
}

const Target &gfx950() { return **findTarget("gfx950"); }

const Calibration &shipped() {
  static const std::unique_ptr<Calibration> calibration = std::move(*loadCalibration("shipped"));
  return *calibration;
}

template <typename Body> void overSample(benchmark::State &state, Body body) {
  const Problem problem = problemOf(state);
  const std::vector<Schedule> schedules = Space(problem, gfx950()).sample(2000, 1);
  CostModel model(problem, gfx950(), shipped());
  for (const Schedule &schedule : schedules) {
    benchmark::DoNotOptimize(model.timeUs(schedule)); // fills the memo
  }
  for (auto _ : state) {
    for (const Schedule &schedule : schedules) {
      benchmark::DoNotOptimize(body(problem, model, schedule));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(schedules.size()));
}

void timeWarm(benchmark::State &state) {
  overSample(state, [](const Problem &, CostModel &model, const Schedule &schedule) {
    return model.timeUs(schedule);
  });
}

void breakdownWarm(benchmark::State &state) {
  overSample(state, [](const Problem &, CostModel &model, const Schedule &schedule) {
    return model.estimate(schedule).timeUs;
  });
}

void planAlone(benchmark::State &state) {
  overSample(state, [](const Problem &problem, CostModel &, const Schedule &schedule) {
    return makePlan(problem, schedule, gfx950()).launches.front().workgroups;
  });
}

void timeCold(benchmark::State &state) {
  const Problem problem = problemOf(state);
  const Space space(problem, gfx950());
  std::vector<Schedule> schedules;
  space.forRange(0, 200000, [&](const Schedule &schedule) {
    schedules.push_back(schedule);
    return true;
  });
  for (auto _ : state) {
    CostModel model(problem, gfx950(), shipped());
    for (const Schedule &schedule : schedules) {
      benchmark::DoNotOptimize(model.timeUs(schedule));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(schedules.size()));
}

/// Rows of one table, each with another size.
std::vector<MeasuredRow> publishedRows() {
  std::string table = "gfx,cu_num,op,dtype_a,dtype_b,dtype_out,scale,M,N,K,kernel_family,"
                      "kernel_name,tile_m,tile_n,tile_k,split_k\n";
  for (int m = 16; m <= 8192; m += 16) {
    table += "gfx950,256,gemm,bf16,bf16,bf16,," + std::to_string(m) +
             ",4096,8192,flydsl,flydsl_gemm,128,128,64,1\n";
  }
  return *measuredRows(*TextTable::parse(table, "rows.csv"));
}

void publishedRow(benchmark::State &state) {
  const std::vector<MeasuredRow> rows = publishedRows();
  ForeignModel model({}, shipped());
  for (auto _ : state) {
    for (const MeasuredRow &row : rows) {
      benchmark::DoNotOptimize(shipped().correct(*model.estimate(row)).log);
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows.size()));
}

void publishedResidual(benchmark::State &state) {
  ForeignModel model({}, shipped());
  std::vector<ModelCase> cases;
  for (const MeasuredRow &row : publishedRows()) {
    cases.push_back(*model.estimate(row));
  }
  for (auto _ : state) {
    for (const ModelCase &modelCase : cases) {
      benchmark::DoNotOptimize(shipped().correct(modelCase).log);
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(cases.size()));
}

BENCHMARK(publishedRow)->Unit(benchmark::kMillisecond);
BENCHMARK(publishedResidual)->Unit(benchmark::kMillisecond);
BENCHMARK(timeWarm)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);
BENCHMARK(breakdownWarm)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);
BENCHMARK(planAlone)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);
BENCHMARK(timeCold)->DenseRange(0, 2)->Unit(benchmark::kMillisecond)->Iterations(1);

} // namespace
