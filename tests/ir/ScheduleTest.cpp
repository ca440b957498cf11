// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Schedule.h"

#include "ir/Decision.h"

#include <gmock/gmock.h>
#include <random>
#include <set>

namespace kw {
namespace {

using testing::HasSubstr;

std::string complaint(std::string_view text) {
  const auto schedule = parseSchedule(text);
  if (schedule) {
    ADD_FAILURE() << text << " was accepted as " << print(*schedule);
    return "";
  }
  EXPECT_EQ(schedule.error().kind, Error::Kind::badInput);
  return schedule.error().message;
}

TEST(Schedule, DefaultsAreOmitted) {
  EXPECT_EQ(print(GemmSchedule()), "gemm.1:");
  EXPECT_EQ(print(*parseSchedule("gemm.1")), "gemm.1:");
  EXPECT_EQ(std::get<GemmSchedule>(*parseSchedule("gemm.1:")), GemmSchedule());
  EXPECT_EQ(print(*parseSchedule("gemm.1:stages=2,tile=128x128x64")), "gemm.1:");
  EXPECT_EQ(print(RmsNormSchedule()), "rmsnorm.1:");
}

TEST(Schedule, EveryKeyInCanonicalOrder) {
  const std::string text = "gemm.1:tile=256x192x32,waves=2x4,mfma=32x32x16,a=lds,b=lds,la=plain,"
                           "lb=padding,va=8,vb=4,acc=agpr,epi=swap,stages=3,prefetch=2,"
                           "schedule=interleaved,xcd=0,group=4";
  const auto schedule = parseSchedule(text);
  ASSERT_TRUE(schedule) << schedule.error().message;
  EXPECT_EQ(print(*schedule), text);
  const auto &gemm = std::get<GemmSchedule>(*schedule);
  EXPECT_EQ(gemm.tiling.n, 192);
  EXPECT_EQ(gemm.waves(), 8);
  EXPECT_EQ(gemm.waveTileM(), 128);
  EXPECT_EQ(gemm.a.path, OperandPath::lds);
  EXPECT_EQ(gemm.b.layout, LdsLayout::padding);
  EXPECT_EQ(gemm.accumulator, AccumulatorFile::agpr);
  EXPECT_EQ(gemm.pipeline.order, LoopOrder::interleaved);
  EXPECT_FALSE(gemm.mapping.xcdRemap);
  const std::string norm = "rmsnorm.1:waves=4,rows=1,vec=8,passes=2,occupancy=2";
  EXPECT_EQ(print(*parseSchedule(norm)), norm);
  const std::string triton = "triton.gemm.1:BLOCK_M=256,BLOCK_N=64,BLOCK_K=32,GROUP_M=4,"
                             "num_warps=8,num_stages=3,matrix_instr_nonkdim=32,waves_per_eu=2,"
                             "kpack=2";
  EXPECT_EQ(print(*parseSchedule(triton)), triton);
}

TEST(Generator, EachAlternativeHasItsKind) {
  for (ScheduleKind kind : scheduleKinds()) {
    EXPECT_EQ(kindOf(defaultSchedule(kind)), kind);
    EXPECT_EQ(kindOf(*parseSchedule(formatOf(kind))), kind);
    EXPECT_EQ(*findKind(kind.family, kind.generator), kind);
  }
  EXPECT_EQ(*parseGenerator("triton"), Generator::triton);
  EXPECT_THAT(parseGenerator("cuda").error().message, HasSubstr("accepted: kw triton"));
  EXPECT_THAT(findKind(Family::rmsnorm, Generator::triton).error().message,
              HasSubstr("generator triton makes no rmsnorm; accepted: gemm"));
}

TEST(Schedule, RefusesByName) {
  EXPECT_THAT(complaint(""), HasSubstr("empty schedule"));
  EXPECT_THAT(complaint("gemm.2:tile=1x1x1"), HasSubstr("gemm.1 rmsnorm.1"));
  EXPECT_THAT(complaint("gemm"), HasSubstr("unknown schedule format \"gemm\""));
  EXPECT_THAT(complaint("triton.gemm.1:stages=2"), HasSubstr("unknown key \"stages\""));
  EXPECT_THAT(complaint("triton.gemm.1:GROUP_M=0"), HasSubstr("accepted: 1..1024"));
  EXPECT_THAT(complaint("gemm.1:tiles=1x1x1"), HasSubstr("unknown key \"tiles\""));
  EXPECT_THAT(complaint("gemm.1:tile=128x128"), HasSubstr("\"tile\""));
  EXPECT_THAT(complaint("gemm.1:tile=0x128x64"), HasSubstr("\"tile\""));
  EXPECT_THAT(complaint("gemm.1:tile=128x128x64x1"), HasSubstr("\"tile\""));
  EXPECT_THAT(complaint("gemm.1:stages=9999999999999999999999"), HasSubstr("\"stages\""));
  EXPECT_THAT(complaint("gemm.1:a=none"), HasSubstr("accepted: lds direct registers"));
  EXPECT_THAT(complaint("gemm.1:acc="), HasSubstr("\"acc\""));
  EXPECT_THAT(complaint("gemm.1:xcd=1,xcd=1"), HasSubstr("twice"));
  EXPECT_THAT(complaint("gemm.1:xcd=0,"), HasSubstr("not of the form key=value"));
  EXPECT_THAT(complaint("gemm.1:xcd"), HasSubstr("not of the form key=value"));
}

Schedule randomSchedule(ScheduleKind kind, std::mt19937_64 &random) {
  Schedule schedule = defaultSchedule(kind);
  for (const Decision &decision : decisions(kind)) {
    if (random() % 2 == 0) {
      const std::uint64_t values = decision.highest - decision.lowest + 1;
      decision.set(schedule, decision.lowest + static_cast<std::int64_t>(random() % values));
    }
  }
  return schedule;
}

TEST(Schedule, RandomSchedulesParseBack) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 4000; ++round) {
    const auto kinds = scheduleKinds();
    const Schedule schedule = randomSchedule(kinds[random() % kinds.size()], random);
    const auto again = parseSchedule(print(schedule));
    ASSERT_TRUE(again) << print(schedule) << ": " << again.error().message;
    EXPECT_EQ(*again, schedule);
    EXPECT_EQ(print(*again), print(schedule));
  }
}

TEST(Schedule, SurvivesAnyBytes) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20000; ++round) {
    std::string text = print(randomSchedule(Family::gemm, random));
    for (int edit = 0; edit < 2; ++edit) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    const auto schedule = parseSchedule(text);
    if (schedule) {
      EXPECT_EQ(*parseSchedule(print(*schedule)), *schedule) << text;
    } else {
      EXPECT_EQ(schedule.error().message.find('\n'), std::string::npos);
    }
  }
}

TEST(Decision, EachIsSetAloneAndNamedOnce) {
  for (ScheduleKind kind : scheduleKinds()) {
    std::set<std::string_view> names;
    for (const Decision &decision : decisions(kind)) {
      EXPECT_TRUE(names.insert(decision.name).second) << decision.name;
      const Schedule standard = defaultSchedule(kind);
      const std::int64_t before = decision.get(standard);
      EXPECT_GE(before, decision.lowest) << decision.name;
      EXPECT_LE(before, decision.highest) << decision.name;
      EXPECT_EQ(decision.parse(decision.format(before)), before) << decision.name;
      Schedule changed = standard;
      decision.set(changed, before == decision.lowest ? decision.highest : decision.lowest);
      for (const Decision &other : decisions(kind)) {
        EXPECT_EQ(other.get(changed) != other.get(standard), other.name == decision.name);
      }
    }
  }
}

TEST(Decision, MasksFollowTheTable) {
  EXPECT_EQ(maskOf(Family::gemm, {"tileM", "tileK"}), 0b101u);
  EXPECT_EQ(maskOf(Family::gemm, {}), 0u);
}

} // namespace
} // namespace kw
