// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of top-k.
#include "ir/plans/TopKLoop.h"
#include "ir/rules/Registers.h"
#include "ir/rules/RowWorkgroups.h"
#include "ir/rules/Rules.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace kw {
namespace {

const TopKSchedule &of(const Schedule &s) { return std::get<TopKSchedule>(s); }

DecisionMask reads(std::initializer_list<std::string_view> names) {
  return maskOf(Family::topk, names);
}

int elementBytes(const Problem &p) { return bitWidth(p.topk().type) / 8; }
std::int64_t rowBytes(const Problem &p) { return p.topk().cols * elementBytes(p); }

LaunchPlan launchOf(const Problem &p, const Schedule &s, const Target &t) {
  return makePlan(p, s, t).launches.front();
}

/// A lane's part of the list of the best, value and column, stays in registers.
constexpr std::int64_t mostK = 4096;

std::int64_t workItems(const Problem &p, const Schedule &s, const Target &t) {
  return rowWorkItems(p.topk().rows, of(s), t);
}

std::vector<Rule> makeRules() {
  return {
      {"listInRegisters", 0,
       [](const Problem &p, const Schedule &, const Target &) { return p.topk().k <= mostK; },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("k={}; the best stay in registers up to k={}", p.topk().k, mostK);
       }},
      {"usefulRows", reads({"rowsPerWorkgroup"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return of(s).rowsPerWorkgroup <= powerOfTwoFrom(p.topk().rows);
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("{} rows a workgroup, but rows={}", of(s).rowsPerWorkgroup,
                            p.topk().rows);
       }},
      {"waves", reads({"wavesPerRow", "rowsPerWorkgroup"}),
       [](const Problem &, const Schedule &s, const Target &t) { return rowWavesHold(of(s), t); },
       [](const Problem &, const Schedule &s, const Target &t) {
         return fmt::format("{} waves a row x {} rows: a power of two a row, at most {} in total",
                            of(s).wavesPerRow, of(s).rowsPerWorkgroup, t.maxWavesPerWorkgroup);
       }},
      {"gridSize", reads({"wavesPerRow", "rowsPerWorkgroup"}),
       [](const Problem &p, const Schedule &s, const Target &t) {
         return workItems(p, s, t) < mostWorkItems;
       },
       [](const Problem &p, const Schedule &s, const Target &t) {
         return fmt::format("a grid of {} work-items; a dispatch has less than {}",
                            workItems(p, s, t), mostWorkItems);
       }},
      {"width", reads({"vector"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return rowWidthHolds(of(s), elementBytes(p));
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("{} bytes a lane; loads of 2, 4, 8 and 16 exist, an element has {}",
                            of(s).vectorBytes, elementBytes(p));
       }},
      {"alignment", reads({"vector"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return rowBytes(p) % of(s).vectorBytes == 0;
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("{} bytes a lane, but cols={} makes rows of {} bytes",
                            of(s).vectorBytes, p.topk().cols, rowBytes(p));
       }},
      {"usefulWaves", reads({"wavesPerRow", "vector"}),
       [](const Problem &p, const Schedule &s, const Target &t) {
         return columnsBefore(of(s), elementBytes(p), t) < p.topk().cols;
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("the last of {} waves a row gets none of {} columns", of(s).wavesPerRow,
                            p.topk().cols);
       }},
      {"usefulPrefetch", reads({"wavesPerRow", "vector", "prefetch"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return of(s).prefetch < std::max<std::int64_t>(1, rowTrips(p.topk(), of(s)));
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("{} loads in flight before the one in use, but a wave has {} of a row",
                            of(s).prefetch, rowTrips(p.topk(), of(s)));
       }},
      {"registers", reads({"wavesPerRow", "rowsPerWorkgroup", "vector", "prefetch"}),
       [](const Problem &p, const Schedule &s, const Target &t) {
         return fits(launchOf(p, s, t).registers, of(s).waves(), t);
       },
       [](const Problem &p, const Schedule &s, const Target &t) {
         return registerShortage(launchOf(p, s, t).registers, of(s).waves(), t);
       }},
      {"ldsCapacity", reads({"wavesPerRow", "rowsPerWorkgroup"}),
       [](const Problem &p, const Schedule &s, const Target &t) {
         return launchOf(p, s, t).ldsBytes <= t.ldsBytes;
       },
       [](const Problem &p, const Schedule &s, const Target &t) {
         return fmt::format("LDS {} > {} bytes with lists of {} entries for {} waves",
                            launchOf(p, s, t).ldsBytes, t.ldsBytes, listEntries(p.topk()),
                            of(s).waves());
       }},
  };
}

} // namespace

std::span<const Rule> topKRules() {
  static const std::vector<Rule> all = makeRules();
  return all;
}

} // namespace kw
