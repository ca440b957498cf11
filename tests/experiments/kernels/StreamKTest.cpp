// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// grid=streamk: tiles in parts, on targets with few CUs so that small problems have shares of
// several tiles, of one, and of less than one.
#include "runtime/Validator.h"
#include "tests/experiments/kernels/CompiledKernels.h"
#include "tests/experiments/kernels/RandomTrials.h"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <set>

namespace kw {
namespace {

Target withCus(int cus, int xcds = 1) {
  Target target = **findTarget("gfx950");
  target.cus = cus;
  target.xcds = xcds;
  return target;
}

struct Case {
  const char *problem, *schedule;
};

void expectValid(const Case &wanted, const Target &target, Device &device) {
  const CodeObject object = compiled(
      wanted.problem, std::string("gemm.1:grid=streamk,group=0,") + wanted.schedule, target);
  const auto validation = validate(object, target, device, {});
  ASSERT_TRUE(validation) << validation.error().message;
  EXPECT_TRUE(validation->ok) << wanted.problem << " " << wanted.schedule << " on " << target.cus
                              << ": " << validation->findings.front().kind << " "
                              << validation->findings.front().detail;
  EXPECT_EQ(object.kernels.front().vgprSpills, 0);
  EXPECT_EQ(object.kernels.front().sgprSpills, 0);
}

/// Every path, order of the loop, number of stages, accumulator, epilogue; ragged m, n and k.
TEST(StreamK, Validates) {
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  for (const Case &wanted : {
           Case{"gemm m=200 n=200 k=640 dtype=bf16 b=nk", "tile=64x64x64,waves=2x2"},
           Case{"gemm m=200 n=200 k=600 dtype=bf16 b=nk", "tile=64x64x64,waves=2x2"},
           Case{"gemm m=200 n=200 k=600 dtype=f16", "tile=64x64x64,waves=2x2,stages=3,prefetch=2"},
           Case{"gemm m=200 n=200 k=600 dtype=bf16 b=nk beta=2 alpha=3 epilogue=bias,silu,mul",
                "tile=64x64x64,waves=2x2,epi=swap,schedule=interleaved"},
           Case{"gemm m=200 n=200 k=648 dtype=f16 a=km",
                "tile=32x64x64,waves=2x2,a=lds,b=lds,prefetch=2"},
           Case{"gemm m=200 n=200 k=648 dtype=f16 a=km b=nk",
                "tile=32x64x64,waves=1x4,stages=1,prefetch=0"},
           Case{"gemm m=200 n=200 k=648 dtype=f16",
                "tile=32x64x64,waves=1x4,a=lds,b=lds,stages=1,prefetch=1"},
           Case{"gemm m=200 n=200 k=640 dtype=bf16 b=nk",
                "tile=64x64x64,waves=2x2,acc=agpr,schedule=interleaved,fragments=1"},
           Case{"gemm m=200 n=200 k=600 dtype=bf16 b=nk",
                "tile=64x128x64,waves=2x2,mfma=32x32x16,acc=agpr"},
           Case{"gemm m=200 n=200 k=640 dtype=bf16 b=nk",
                "tile=64x64x64,waves=2x4,schedule=pingpong"},
           // Counters of the loop share their 0 with accumulators: LLVM holds them in VGPRs.
           Case{"gemm m=1 n=794 k=200 dtype=f16 a=km",
                "tile=16x64x64,waves=1x4,a=lds,b=lds,la=padding,va=2,vb=4,prefetch=2"},
           Case{"gemm m=200 n=200 k=600 dtype=bf16 b=nk", "tile=128x128x64,waves=2x2,quad=1"},
           Case{"gemm m=200 n=200 k=640 dtype=bf16 b=nk preshuffle=1",
                "tile=32x64x64,waves=1x4,b=registers,prefetch=1"},
           Case{"gemm m=200 n=200 k=608 dtype=bf16 b=nk preshuffle=1",
                "tile=32x64x64,waves=1x4,b=registers,stages=1,prefetch=0"},
           Case{"gemm m=100 n=100 k=300 dtype=f32 b=nk", "tile=32x32x32,waves=2x2,mfma=16x16x4"},
           Case{"gemm m=100 n=72 k=600 dtype=bf16 b=nk batch=2 sb=0", "tile=32x64x64,waves=2x2"},
       }) {
    for (const int cus : {3, 11}) {
      expectValid(wanted, withCus(cus), *device);
    }
  }
}

/// Many parts a tile, in a workspace of sums too; XCDs with unequal numbers of workgroups.
TEST(StreamK, AddsUpManyParts) {
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  const Case wanted{"gemm m=40 n=100 k=2560 dtype=bf16 out=f32 b=nk", "tile=32x64x64,waves=2x2"};
  for (const int cus : {5, 13, 40}) {
    expectValid(wanted, withCus(cus, 4), *device);
    expectValid({wanted.problem, "tile=32x64x64,waves=2x2,reduce=atomic"}, withCus(cus, 4),
                *device);
  }
}

std::size_t distinctResults(const std::string &reduce) {
  const CodeObject object =
      compiled("gemm m=40 n=100 k=2560 dtype=bf16 out=f32 b=nk",
               "gemm.1:tile=32x64x64,waves=2x2,grid=streamk,group=0,reduce=" + reduce, withCus(13));
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  std::set<std::string> results;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    results.insert(resultOf(object, *device, seed));
  }
  return results.size();
}

TEST(StreamK, OrderedSumsDoNotDependOnTheOrderOfArrival) {
  EXPECT_EQ(distinctResults("ordered"), 1u);
}

/// The counterpart: the orders of arrival did differ.
TEST(StreamK, AtomicSumsDo) { EXPECT_GT(distinctResults("atomic"), 1u); }

/// Results through LDS over the loop's, while other waves go on with the next piece; and in LDS of
/// their own.
TEST(StreamK, ValidatesWithRowsThroughLds) {
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  for (const Case &wanted : {
           Case{"gemm m=200 n=200 k=600 dtype=bf16 b=nk epilogue=add",
                "tile=64x64x64,waves=2x1,epi=lds"},
           Case{"gemm m=200 n=200 k=600 dtype=f16 b=nk",
                "tile=32x128x32,waves=1x2,stages=1,prefetch=0,epi=lds"},
       }) {
    expectValid(wanted, withCus(3), *device);
  }
}

/// Random trials with their grid changed, wherever that is legal. KW_SEED and KW_STREAMK_TRIALS
/// choose another series and its length, KW_VERBOSE lists it.
void validateRandom(GridKind grid) {
  const auto given = [](const char *name, std::uint64_t fallback) {
    const char *text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : fallback;
  };
  const std::uint64_t seed = given("KW_SEED", 30), wanted = given("KW_STREAMK_TRIALS", 12);
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  std::uint64_t done = 0, spilled = 0;
  for (std::uint64_t i = 0; done < wanted; ++i) {
    RandomTrial trial = randomTrial(seed, i, Family::gemm);
    auto &schedule = std::get<GemmSchedule>(trial.schedule);
    schedule.mapping.grid = grid;
    if (grid == GridKind::streamk) {
      schedule.split.k = schedule.tiling.wavesK = 1;
      schedule.split.reduce = i % 4 == 0 ? Reduction::atomic : Reduction::ordered;
    }
    if (!checkLegal(trial.problem, trial.schedule, trial.target).empty()) {
      continue;
    }
    ++done;
    if (std::getenv("KW_VERBOSE")) { // a compiler that aborts leaves the culprit's name behind
      fmt::print("trial {}: {}\n", i, trial.text());
      std::fflush(stdout);
    }
    const TrialOutcome outcome = runTrial(trial, *device, 1);
    spilled += outcome.state == TrialOutcome::State::spilled ? 1 : 0;
    EXPECT_EQ(outcome.state, TrialOutcome::State::ok)
        << "KW_SEED=" << seed << " trial " << i << ": " << trial.text() << "\n  " << outcome.detail;
  }
  fmt::print("seed {}: {} trials, {} spilled\n", seed, done, spilled);
}

TEST(StreamK, RandomSchedulesValidate) { validateRandom(GridKind::streamk); }
TEST(PersistentGrid, RandomSchedulesValidate) { validateRandom(GridKind::persistent); }

/// On the whole GPU: a tile count that CUs don't divide, of which a sample runs.
TEST(StreamK, SampleOfALargeProblem) {
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  const Target &target = **findTarget("gfx950");
  const CodeObject object = compiled("gemm m=2304 n=2304 k=1024 dtype=bf16 b=nk",
                                     "gemm.1:tile=128x128x64,waves=2x2,grid=streamk", target);
  const auto validation = validate(object, target, *device, {});
  ASSERT_TRUE(validation) << validation.error().message;
  EXPECT_TRUE(validation->ok) << validation->findings.front().kind << " "
                              << validation->findings.front().detail;
  EXPECT_GT(validation->checked, 0);
  EXPECT_LT(validation->checked, validation->total);
}

} // namespace
} // namespace kw
