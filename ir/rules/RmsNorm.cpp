// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of RMSNorm.
#include "ir/KernelPlan.h"
#include "ir/Occupancy.h"
#include "ir/rules/Registers.h"
#include "ir/rules/RowWorkgroups.h"
#include "ir/rules/Rules.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <numeric>

namespace kw {
namespace {

const RmsNormSchedule &norm(const Schedule &s) { return std::get<RmsNormSchedule>(s); }

DecisionMask reads(std::initializer_list<std::string_view> names) {
  return maskOf(Family::rmsnorm, names);
}

int elementBytes(const Problem &p) { return bitWidth(p.rmsnorm().type) / 8; }

/// Bytes that divide every row's start and end.
std::int64_t alignment(const Problem &p) { return p.rmsnorm().cols * elementBytes(p); }

std::int64_t workItems(const Problem &p, const Schedule &s, const Target &t) {
  return rowWorkItems(p.rmsnorm().rows, norm(s), t);
}

RegisterUse registerUse(const Problem &p, const Schedule &s, const Target &t) {
  return makePlan(p, s, t).launches[0].registers;
}

bool registersHold(const Problem &p, const Schedule &s, const Target &t) {
  return fits(registerUse(p, s, t), norm(s).waves(), t);
}

/// Waves per SIMD that a workgroup needs to be resident, and that its registers allow.
struct Occupancies {
  int needed = 0, allowed = 0;
};
Occupancies occupancies(const Problem &p, const Schedule &s, const Target &t) {
  const RegisterUse use = registerUse(p, s, t);
  return {(norm(s).waves() + t.simdsPerCu - 1) / t.simdsPerCu,
          occupancyByRegisters(t, use.vgpr(), use.agpr())};
}

bool occupancyHolds(const Problem &p, const Schedule &s, const Target &t) {
  const int asked = norm(s).wavesPerSimd;
  const Occupancies range = occupancies(p, s, t);
  return asked == 0 || (range.needed <= asked && asked <= range.allowed);
}

std::vector<Rule> makeRules() {
  return {
      {"usefulRows", reads({"rowsPerWorkgroup"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return norm(s).rowsPerWorkgroup <= powerOfTwoFrom(p.rmsnorm().rows);
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("{} rows a workgroup, but rows={}", norm(s).rowsPerWorkgroup,
                            p.rmsnorm().rows);
       }},
      {"waves", reads({"wavesPerRow", "rowsPerWorkgroup"}),
       [](const Problem &, const Schedule &s, const Target &t) { return rowWavesHold(norm(s), t); },
       [](const Problem &, const Schedule &s, const Target &t) {
         return fmt::format("{} waves a row x {} rows: a power of two a row, at most {} in total",
                            norm(s).wavesPerRow, norm(s).rowsPerWorkgroup, t.maxWavesPerWorkgroup);
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
         return rowWidthHolds(norm(s), elementBytes(p));
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("{} bytes a lane; loads of 2, 4, 8 and 16 exist, an element has {}",
                            norm(s).vectorBytes, elementBytes(p));
       }},
      {"alignment", reads({"vector"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return alignment(p) % norm(s).vectorBytes == 0;
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("{} bytes a lane, but cols={} aligns rows to {} bytes",
                            norm(s).vectorBytes, p.rmsnorm().cols,
                            std::gcd(alignment(p), std::int64_t(16)));
       }},
      {"usefulWaves", reads({"wavesPerRow", "vector"}),
       [](const Problem &p, const Schedule &s, const Target &t) {
         return columnsBefore(norm(s), elementBytes(p), t) < p.rmsnorm().cols;
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("the last of {} waves a row gets none of {} columns",
                            norm(s).wavesPerRow, p.rmsnorm().cols);
       }},
      {"registers", reads({"wavesPerRow", "rowsPerWorkgroup", "vector", "passes"}), registersHold,
       [](const Problem &p, const Schedule &s, const Target &t) {
         return registerShortage(registerUse(p, s, t), norm(s).waves(), t);
       }},
      {"occupancy", reads({"wavesPerRow", "rowsPerWorkgroup", "vector", "passes", "wavesPerSimd"}),
       occupancyHolds,
       [](const Problem &p, const Schedule &s, const Target &t) {
         const Occupancies range = occupancies(p, s, t);
         return fmt::format("{} waves per SIMD asked for; a workgroup needs {}, registers allow {}",
                            norm(s).wavesPerSimd, range.needed, range.allowed);
       }},
  };
}

} // namespace

std::span<const Rule> rmsNormRules() {
  static const std::vector<Rule> all = makeRules();
  return all;
}

} // namespace kw
