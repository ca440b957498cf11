// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results through LDS (epi=lds) in strict mode.
#include "codegen/Compile.h"
#include "ir/KernelPlan.h"
#include "ir/ResultRows.h"
#include "ir/Rule.h"
#include "runtime/Device.h"
#include "runtime/Validator.h"
#include "tests/experiments/kernels/RandomTrials.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>
#include <string>

namespace kw {
namespace {

struct Case {
  std::string problem, schedule;
  int cus = 256;
};

/// Compiles, compares what was made with the plan, validates.
void expectRight(const Case &c, Device &device) {
  SCOPED_TRACE(c.problem + " --schedule " + c.schedule);
  Target target = **findTarget("gfx950");
  target.cus = c.cus;
  target.xcds = std::min(target.xcds, c.cus);
  const Problem problem = *parseProblem(c.problem);
  const Schedule schedule = *parseSchedule("gemm.1:xcd=0,group=0,epi=lds," + c.schedule);
  const std::vector<Violation> violations = checkLegal(problem, schedule, target);
  ASSERT_TRUE(violations.empty()) << violations.front().message;
  const auto compiled = compile(problem, schedule, target);
  ASSERT_TRUE(compiled) << compiled.error().message;
  const KernelResources &kernel = compiled->object.kernels.front();
  EXPECT_EQ(kernel.ldsBytes, makePlan(problem, schedule, target).launches.front().ldsBytes);
  EXPECT_EQ(kernel.vgprSpills + kernel.sgprSpills, 0);
  const auto validation = validate(compiled->object, target, device, {});
  ASSERT_TRUE(validation) << validation.error().message;
  EXPECT_TRUE(validation->ok) << validation->findings.front().kind << " "
                              << validation->findings.front().instruction << " "
                              << validation->findings.front().detail;
}

TEST(RowEpilogue, Validates) {
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  const std::string odd = "gemm m=100 n=200 k=256 dtype=bf16 b=nk";
  for (const Case &c : std::vector<Case>{
           {odd, "tile=64x64x64,waves=2x1"},
           {odd + " beta=2 ldc=208 epilogue=bias,silu,mul,add", "tile=64x128x64,waves=2x2"},
           {odd + " epilogue=gelu", "tile=128x128x64,waves=4x2,mfma=32x32x16,acc=agpr"},
           {odd + " alpha=0.5 beta=1 epilogue=add,relu",
            "tile=64x128x64,waves=2x2,mfma=32x32x16,acc=agpr"},
           // Every width of stores: n, ldc and the batch's stride.
           {"gemm m=70 n=196 k=104 dtype=f16 b=nk epilogue=bias,add", "tile=32x128x32,waves=1x2"},
           {"gemm m=70 n=198 k=104 dtype=f16 b=nk epilogue=mul", "tile=32x128x32,waves=1x2"},
           {"gemm m=70 n=193 k=104 dtype=f16 b=nk", "tile=32x128x32,waves=1x2"},
           {"gemm m=70 n=193 k=104 dtype=f16 b=nk beta=1 epilogue=bias,mul",
            "tile=32x128x32,waves=1x2"},
           {"gemm m=33 n=128 k=64 batch=3 sc=6148 dtype=bf16 b=nk beta=1",
            "tile=32x64x64,waves=1x1"},
           // Other results.
           {"gemm m=70 n=96 k=128 dtype=bf16 out=f32 beta=1", "tile=32x96x32,waves=2x1"},
           {"gemm m=70 n=95 k=40 dtype=f32 b=nk epilogue=bias,add",
            "tile=64x64x32,waves=2x1,mfma=16x16x4"},
           {"gemm m=70 n=96 k=128 dtype=i8 out=i32 b=nk", "tile=64x64x64,waves=2x1,mfma=16x16x64"},
           {"gemm m=70 n=93 k=128 dtype=i8 out=i32 b=nk", "tile=64x64x64,waves=2x2,mfma=16x16x64"},
           {"gemm m=70 n=96 k=128 dtype=i8 b=nk alpha=0.01 epilogue=bias",
            "tile=64x64x64,waves=2x1,mfma=16x16x64"},
           // Steps behind the last one are still on their way into the LDS that rows lie over.
           {odd, "tile=64x64x64,waves=2x1,stages=3,prefetch=2,fragments=1"},
           {odd, "tile=128x128x64,waves=4x2,schedule=pingpong,quad=1"},
           {odd, "tile=128x128x64,waves=2x2,quad=1,schedule=interleaved"},
           // In LDS of their own; packed weights need none.
           {odd + " epilogue=add", "tile=64x64x32,waves=4x1,stages=1,prefetch=0"},
           {"gemm m=20 n=256 k=256 dtype=bf16 preshuffle=1 epilogue=mul",
            "tile=16x128x64,waves=1x2,b=registers"},
           // Over the sums of slices; one wave after the other where splits arrive.
           {odd, "tile=32x128x64,waves=1x2,slicek=2"},
           {odd + " beta=1", "tile=32x64x128,waves=2x1,slicek=4"},
           {odd, "tile=64x128x64,waves=2x2,splitk=2"},
           {odd + " beta=1 epilogue=bias", "tile=64x128x64,waves=2x2,splitk=4,reduce=atomic"},
           {odd, "tile=32x128x64,waves=1x2,slicek=2,splitk=2"},
           // The next tile's loads must wait.
           {odd + " batch=2", "tile=32x64x64,waves=2x1,grid=persistent", 2},
           {odd + " epilogue=add", "tile=32x128x32,waves=1x2,grid=persistent,stages=3,prefetch=2",
            2},
           {odd + " epilogue=add", "tile=32x64x32,waves=2x1,grid=persistent,stages=1,prefetch=0",
            2},
       }) {
    expectRight(c, *device);
  }
}

/// Schedules of random trials with the result's path changed, wherever that is legal.
TEST(RowEpilogue, RandomSchedulesValidate) {
  constexpr std::uint64_t seed = 20;
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  std::set<RowsPlace> places;
  int done = 0;
  for (std::uint64_t i = 0; done < 12; ++i) {
    RandomTrial trial = randomTrial(seed, i, Family::gemm);
    auto &schedule = std::get<GemmSchedule>(trial.schedule);
    schedule.epilogue = EpiloguePath::lds;
    if (!checkLegal(trial.problem, trial.schedule, trial.target).empty()) {
      continue;
    }
    ++done;
    places.insert(resultRows(trial.problem.gemm(), schedule).place);
    const TrialOutcome outcome = runTrial(trial, *device, 1);
    EXPECT_EQ(outcome.state, TrialOutcome::State::ok)
        << "trial " << i << ": " << trial.text() << "\n  " << outcome.detail;
  }
  EXPECT_GE(places.size(), 2u);
}

} // namespace
} // namespace kw
