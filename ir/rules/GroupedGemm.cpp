// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of grouped products: those of a GEMM of the tallest group, as far as a group's product
// takes their decisions, and those of the groups themselves.
#include "ir/plans/GroupedGemm.h"
#include "ir/rules/Rules.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace kw {
namespace {

const GemmSchedule &gemmOf(const Schedule &schedule) {
  return std::get<GroupedGemmSchedule>(schedule).gemm;
}

DecisionMask reads(std::initializer_list<std::string_view> names) {
  return maskOf(Family::groupedGemm, names);
}

// ---- Rules of the product ----

/// A group's product is never split; the grid is that of all groups.
/// Tokens lie along k.
constexpr std::array<std::string_view, 10> otherwise{
    "wholeReadsA", "usefulReduce", "splitGrid",      "usefulSplit",      "splitWholeSteps",
    "splitSteps",  "splitLoads",   "pendingStreamK", "usefulPersistent", "gridSize"};

template <std::size_t index>
bool productHolds(const Problem &problem, const Schedule &schedule, const Target &target) {
  return gemmRules()[index].holds(Problem{problem.groupedGemm().product}, gemmOf(schedule), target);
}
template <std::size_t index>
std::string productFact(const Problem &problem, const Schedule &schedule, const Target &target) {
  return gemmRules()[index].explain(Problem{problem.groupedGemm().product}, gemmOf(schedule),
                                    target);
}

/// The same decisions by their place in the other table; what it hasn't is constant.
DecisionMask translated(DecisionMask ofGemm) {
  const auto from = decisions(Family::gemm), to = decisions(Family::groupedGemm);
  DecisionMask mask = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto at = std::ranges::find(to, from[i].name, &Decision::name);
    if ((ofGemm >> i & 1) != 0 && at != to.end()) {
      mask |= DecisionMask(1) << (at - to.begin());
    }
  }
  return mask;
}

template <std::size_t... index>
void addProductRules(std::vector<Rule> &all, std::index_sequence<index...>) {
  const auto ofGemm = gemmRules();
  const auto add = [&](std::size_t i, auto holds, auto explain) {
    if (i < ofGemm.size() && std::ranges::find(otherwise, ofGemm[i].name) == otherwise.end()) {
      all.push_back({ofGemm[i].name, translated(ofGemm[i].reads), holds, explain});
    }
  };
  (add(index, productHolds<index>, productFact<index>), ...);
}

// ---- Rules of the groups ----

bool hasStep(const Problem &problem, EpilogueKind kind) {
  const auto &steps = problem.groupedGemm().product.epilogue;
  return std::ranges::find(steps, kind, &EpilogueStep::kind) != steps.end();
}

std::int64_t tiles(const Problem &p, const Schedule &s) {
  return groupTiles(p.groupedGemm(), gemmOf(s).tiling).tiles();
}

/// Rows of the tokens are gathered with 32-bit offsets from the first.
constexpr double gatherReach = 4294967296.0;
double tokenBytes(const Problem &p) {
  const GroupedGemm &op = p.groupedGemm();
  return static_cast<double>(op.tokens) * static_cast<double>(op.product.k) *
         bitWidth(op.product.aType) / 8;
}

std::vector<Rule> problemRules() {
  return {
      {"routingFile", 0,
       [](const Problem &p, const Schedule &, const Target &) {
         return !p.groupedGemm().heights.empty();
       },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("the routing file {} was not read", p.groupedGemm().routingFile);
       }},
      {"gatherRange", 0,
       [](const Problem &p, const Schedule &, const Target &) {
         return tokenBytes(p) < gatherReach;
       },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("tokens of {:.0f} bytes; rows are gathered within {:.0f}",
                            tokenBytes(p), gatherReach);
       }},
  };
}

std::vector<Rule> groupRules() {
  return {
      {"gridSize", reads({"tileM", "tileN", "wavesM", "wavesN", "wavesK"}),
       [](const Problem &p, const Schedule &s, const Target &t) {
         return static_cast<double>(tiles(p, s)) * gemmOf(s).waves() * t.waveSize <
                double(mostWorkItems);
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("a grid of {} workgroups of {} waves; a dispatch has less than {} "
                            "work-items",
                            tiles(p, s), gemmOf(s).waves(), mostWorkItems);
       }},
      {"swigluPairs", reads({"tileN", "wavesN", "mfmaN"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         const auto &tiling = gemmOf(s).tiling;
         return !hasStep(p, EpilogueKind::swiglu) ||
                tiling.n % (2 * tiling.wavesN * tiling.mfmaN) == 0;
       },
       [](const Problem &, const Schedule &s, const Target &) {
         const auto &tiling = gemmOf(s).tiling;
         return fmt::format("swiglu with tile n={}: each of {} waves needs as many fragments of "
                            "the gate as of what it opens",
                            tiling.n, tiling.wavesN);
       }},
      {"usefulPersistent", reads({"tileM", "tileN", "grid"}),
       [](const Problem &p, const Schedule &s, const Target &t) {
         return gemmOf(s).mapping.grid == GridKind::tiles ||
                (gemmOf(s).mapping.grid == GridKind::persistent && tiles(p, s) > t.cus);
       },
       [](const Problem &p, const Schedule &s, const Target &t) {
         return gemmOf(s).mapping.grid == GridKind::streamk
                    ? std::string("grid=streamk splits tiles; grid=tiles or persistent")
                    : fmt::format("grid=persistent with {} tiles on {} CUs: no workgroup has a "
                                  "second one",
                                  tiles(p, s), t.cus);
       }},
  };
}

std::vector<Rule> makeRules() {
  std::vector<Rule> all = problemRules();
  constexpr std::size_t most = 96;
  addProductRules(all, std::make_index_sequence<most>());
  const std::vector<Rule> own = groupRules();
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

} // namespace

std::span<const Rule> groupedGemmRules() {
  static const std::vector<Rule> all = makeRules();
  return all;
}

} // namespace kw
