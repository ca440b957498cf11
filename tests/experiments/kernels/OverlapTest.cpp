// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules that overlap steps and tiles, at every number of steps and turns: barriers of the two
// groups of a ping-pong schedule pair up (a wave that waits for ever is a finding), slices read
// ahead belong to the right step, persistent workgroups leave LDS to their next tile.
#include "codegen/Compile.h"
#include "ir/KernelPlan.h"
#include "ir/Rule.h"
#include "runtime/Validator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

void expectRight(const std::string &problem, const std::string &schedule,
                 const Target &target = *targets().front()) {
  SCOPED_TRACE(problem + " --schedule " + schedule);
  const auto parsed = parseProblem(problem);
  const auto decided = parseSchedule(schedule);
  ASSERT_TRUE(parsed && decided);
  const std::vector<Violation> violations = checkLegal(*parsed, *decided, target);
  ASSERT_TRUE(violations.empty()) << violations.front().message;
  const auto compiled = compile(*parsed, *decided, target);
  ASSERT_TRUE(compiled) << compiled.error().message;
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  const auto validation = validate(compiled->object, target, *device, {});
  ASSERT_TRUE(validation) << validation.error().message;
  EXPECT_TRUE(validation->ok) << (validation->findings.empty()
                                      ? "no finding"
                                      : validation->findings.front().detail);
}

TEST(Overlap, EveryNumberOfSteps) {
  for (const char *schedule :
       {"gemm.1:tile=64x64x64,waves=2x4,schedule=pingpong,prio=1,xcd=0,group=0",
        "gemm.1:tile=64x64x64,waves=4x2,stages=3,prefetch=2,schedule=pingpong,xcd=0,group=0",
        "gemm.1:tile=128x128x64,waves=2x4,schedule=pingpong,quad=1,xcd=0,group=0",
        "gemm.1:tile=64x64x64,quad=1,xcd=0,group=0",
        "gemm.1:tile=64x128x64,quad=1,stages=3,prefetch=2,schedule=interleaved,xcd=0,group=0",
        "gemm.1:tile=64x64x64,fragments=1,schedule=interleaved,xcd=0,group=0",
        "gemm.1:tile=64x64x64,fragments=2,prio=1,xcd=0,group=0",
        "gemm.1:tile=64x64x64,a=lds,b=lds,stages=3,prefetch=3,fragments=1,xcd=0,group=0"}) {
    for (int k = 40; k <= 64 * 8 && !testing::Test::HasFailure(); k += 56) {
      expectRight(fmt::format("gemm m=72 n=72 k={} dtype=bf16 b=nk", k), schedule);
    }
  }
}

/// A GPU of three CUs, so that small problems give a workgroup many turns.
TEST(Overlap, PersistentWorkgroupsOnASmallDevice) {
  Target small = *targets().front();
  small.cus = 3;
  small.xcds = 1;
  for (const char *schedule :
       {"gemm.1:tile=32x64x64,grid=persistent,xcd=0,group=0",
        "gemm.1:tile=32x64x64,grid=persistent,schedule=interleaved,acc=agpr,fragments=1,xcd=0",
        "gemm.1:tile=64x64x64,waves=2x4,grid=persistent,schedule=pingpong,xcd=0",
        "gemm.1:tile=32x64x32,a=lds,b=lds,stages=3,prefetch=2,fragments=1,grid=persistent,xcd=0",
        "gemm.1:tile=32x32x64,waves=1x1,grid=persistent,a=lds,b=lds,prefetch=2,xcd=0"}) {
    for (const int k : {40, 64, 200}) {
      expectRight(fmt::format("gemm m=500 n=1000 k={} dtype=f16 b=nk", k), schedule, small);
    }
  }
}

} // namespace
} // namespace kw
