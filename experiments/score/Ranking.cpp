// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/Ranking.h"

#include "experiments/score/Metrics.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace kw {
namespace {

struct Candidate {
  double predicted = 0, measured = 0;
};

/// What tells candidates of different groups apart: problem, stage and the sorted block's height
/// follow from the row; kernels don't.
std::string moeGroup(const ScoredRow &row) {
  const MoeRow &moe = row.row.moe;
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", row.row.gfx, moe.tokens, moe.modelDim,
                     moe.interDim, moe.experts, moe.topk, moe.activation, row.row.typeA,
                     row.row.typeB, row.row.scale, moe.oneStage ? 0 : moe.stage);
}

/// The least time per kernel: the same candidate may stand in several tables.
using Candidates = std::map<std::string, Candidate>;

void keepFastest(Candidates &candidates, const std::string &kernel, Candidate candidate) {
  const auto [at, inserted] = candidates.emplace(kernel, candidate);
  if (!inserted && candidate.measured < at->second.measured) {
    at->second = candidate;
  }
}

RankingGroup rankingGroup(const std::string &name, std::vector<Candidate> candidates) {
  RankingGroup group{name};
  double best = candidates.front().measured, sum = 0;
  for (const Candidate &candidate : candidates) {
    best = std::min(best, candidate.measured);
    sum += candidate.measured;
  }
  std::ranges::stable_sort(candidates, {}, &Candidate::predicted);
  double bestOf5 = candidates.front().measured;
  for (std::size_t i = 0; i < std::min<std::size_t>(5, candidates.size()); ++i) {
    bestOf5 = std::min(bestOf5, candidates[i].measured);
  }
  group.top1Regret = candidates.front().measured / best - 1;
  group.top5Regret = bestOf5 / best - 1;
  group.randomRegret = sum / static_cast<double>(candidates.size()) / best - 1;
  double agree = 0, pairs = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    for (std::size_t j = i + 1; j < candidates.size(); ++j) {
      const double product = (candidates[i].predicted - candidates[j].predicted) *
                             (candidates[i].measured - candidates[j].measured);
      agree += product > 0 ? 1 : product < 0 ? -1 : 0;
      pairs += 1;
    }
  }
  group.tau = agree / pairs;
  return group;
}

std::vector<Candidate> valuesOf(const Candidates &candidates) {
  std::vector<Candidate> values;
  for (const auto &[kernel, candidate] : candidates) {
    values.push_back(candidate);
  }
  return values;
}

} // namespace

std::vector<RankingGroup> rankingGroups(std::span<const ScoredRow> rows) {
  constexpr std::size_t fewest = 8;
  std::map<std::string, Candidates> problems;
  for (const ScoredRow &row : rows) {
    if (row.time.exhaustive && row.counts()) {
      const std::string kernel =
          fmt::format("{}|{}", row.row.kernels.front().name, row.row.moe.blockM);
      keepFastest(problems[moeGroup(row)], kernel, {row.predictedUs, *row.time.us});
    }
  }
  std::vector<RankingGroup> groups;
  for (const auto &[name, candidates] : problems) {
    if (candidates.size() >= fewest) {
      groups.push_back(rankingGroup(name, valuesOf(candidates)));
    }
  }
  return groups;
}

Ranking rankingOf(std::span<const RankingGroup> groups) {
  Ranking ranking;
  ranking.groups = groups.size();
  std::vector<double> top1;
  for (const RankingGroup &group : groups) {
    const double share = 1.0 / static_cast<double>(groups.size());
    ranking.top1Regret += share * group.top1Regret;
    ranking.top5Regret += share * group.top5Regret;
    ranking.tau += share * group.tau;
    ranking.randomRegret += share * group.randomRegret;
    top1.push_back(group.top1Regret);
  }
  ranking.top1RegretP90 = quantile(top1, 0.9);
  return ranking;
}

PickShare pickShare(std::span<const ScoredRow> rows) {
  constexpr std::size_t fewest = 3;
  constexpr double near = 1.05;
  std::map<std::string, Candidates> shapes;
  for (const ScoredRow &row : rows) {
    const MeasuredRow &told = row.row;
    if (told.kind == RowKind::gemm && row.counts() && !told.kernels.front().name.empty()) {
      const std::string shape = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", told.gfx, told.cus,
                                            told.gemm.m, told.gemm.n, told.gemm.k, told.gemm.batch,
                                            told.typeA, told.typeB, told.scale, told.gemm.bias);
      const std::string kernel =
          fmt::format("{}|{}", told.kernels.front().name, told.kernels.front().splitK.value_or(0));
      keepFastest(shapes[shape], kernel, {row.predictedUs, *row.time.us});
    }
  }
  PickShare share;
  for (const auto &[name, candidates] : shapes) {
    if (candidates.size() < fewest) {
      continue;
    }
    const std::vector<Candidate> values = valuesOf(candidates);
    const double best = std::ranges::min_element(values, {}, &Candidate::measured)->measured;
    const double picked = std::ranges::min_element(values, {}, &Candidate::predicted)->measured;
    share.shapes += 1;
    share.within5 += picked <= near * best ? 1 : 0;
    share.randomWithin5 +=
        static_cast<double>(std::ranges::count_if(
            values, [&](const Candidate &value) { return value.measured <= near * best; })) /
        static_cast<double>(values.size());
  }
  const double shapesCounted = std::max<double>(1, static_cast<double>(share.shapes));
  share.within5 /= shapesCounted;
  share.randomWithin5 /= shapesCounted;
  return share;
}

} // namespace kw
