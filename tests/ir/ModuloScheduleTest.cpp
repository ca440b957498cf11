// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/ModuloSchedule.h"

#include <gmock/gmock.h>
#include <map>
#include <random>

namespace kw {
namespace {

using testing::ElementsAre;

ResourceUse use(float matrix, float lds, float issue = 4) {
  ResourceUse result;
  result.matrix = matrix;
  result.lds = lds;
  result.issue = issue;
  return result;
}

TEST(ModuloSchedule, PacksThePipeThatIsFull) {
  const std::vector<ResourceUse> uses(4, use(16, 0));
  const ModuloSchedule schedule = moduloSchedule(uses, {}, std::vector<bool>(4, false));
  EXPECT_EQ(schedule.interval, 64);
  EXPECT_THAT(schedule.slots, ElementsAre(0, 16, 32, 48));
}

TEST(ModuloSchedule, FillsTheGapsWithWhatIsReady) {
  // Two matrix instructions, then two reads of another pipe: they fit between.
  const std::vector<ResourceUse> uses{use(16, 0), use(16, 0), use(0, 8), use(0, 8)};
  const ModuloSchedule schedule = moduloSchedule(uses, {}, std::vector<bool>(4, false));
  EXPECT_EQ(schedule.interval, 32);
  EXPECT_THAT(schedule.slots, ElementsAre(0, 16, 4, 12));
  EXPECT_THAT(orderBySlots(schedule.slots), ElementsAre(0, 2, 3, 1));
}

TEST(ModuloSchedule, LatencyDelaysAndLengthens) {
  const std::vector<ResourceUse> uses{use(0, 4), use(16, 0)};
  const LoopArc arc{0, 1, {64, 0}};
  const ModuloSchedule schedule =
      moduloSchedule(uses, std::span(&arc, 1), std::vector<bool>(2, false));
  EXPECT_THAT(schedule.slots, ElementsAre(0, 64));
  EXPECT_GT(schedule.interval, 64);
}

TEST(ModuloSchedule, LateOperationsStandJustBeforeTheirUse) {
  // Four matrix instructions; the last one's fragment is listed first.
  const std::vector<ResourceUse> uses{use(0, 4), use(16, 0), use(16, 0), use(16, 0), use(16, 0)};
  const LoopArc arc{0, 4, {8, 0}};
  const auto slotOfRead = [&](bool late) {
    std::vector<bool> lateFlags(5, false);
    lateFlags[0] = late;
    return moduloSchedule(uses, std::span(&arc, 1), lateFlags).slots[0];
  };
  EXPECT_EQ(slotOfRead(false), 0);
  EXPECT_EQ(slotOfRead(true), 44); // its use starts at 52
}

TEST(ModuloSchedule, RandomSchedulesObeyPipesAndLatencies) {
  std::mt19937 random(11);
  const auto number = [&](int low, int high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  for (int trial = 0; trial < 200; ++trial) {
    const int count = number(1, 40);
    std::vector<ResourceUse> uses;
    std::vector<bool> late;
    for (int vertex = 0; vertex < count; ++vertex) {
      uses.push_back(use(4.F * number(0, 4), 4.F * number(0, 4)));
      late.push_back(number(0, 3) == 0);
    }
    std::vector<LoopArc> arcs;
    for (int arc = 0; count > 1 && arc < count; ++arc) {
      const int from = number(0, count - 2);
      arcs.push_back({from, number(from + 1, count - 1), {4 * number(0, 30), 0}});
    }
    const ModuloSchedule schedule = moduloSchedule(uses, arcs, late);
    std::map<std::pair<int, int>, int> busy; // pipe, slot
    for (int vertex = 0; vertex < count; ++vertex) {
      ASSERT_TRUE(schedule.slots[vertex] >= 0 && schedule.slots[vertex] < schedule.interval);
      const float needs[] = {uses[vertex].matrix, uses[vertex].lds, uses[vertex].issue};
      for (int pipe = 0; pipe < 3; ++pipe) {
        for (int clock = 0; clock < int(needs[pipe]); clock += 4) {
          const int slot = (schedule.slots[vertex] + clock) % schedule.interval;
          ASSERT_EQ(++busy[std::pair(pipe, slot)], 1);
        }
      }
    }
    for (const LoopArc &arc : arcs) {
      ASSERT_GE(schedule.slots[arc.to], schedule.slots[arc.from] + arc.edge.latency);
    }
  }
}

} // namespace
} // namespace kw
