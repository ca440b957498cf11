// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How well predictions pick among candidates of one problem that were all timed. Groups: rows of
// `kind=exhaustive` MoE tables with equal problem and stage; candidates with a result mismatch
// above 20% are no legal picks and left out; groups with fewer than 8 candidates are skipped
// (costmodel.md 3.3).
#pragma once

#include "experiments/score/ScoreRows.h"

#include <span>
#include <vector>

namespace kw {

struct RankingGroup {
  std::string name;
  double top1Regret = 0, top5Regret = 0; ///< time of the pick / least time - 1
  double tau = 0;                        ///< Kendall's, ties count half
  double randomRegret = 0;               ///< of a random pick
};

struct Ranking {
  std::size_t groups = 0;
  double top1Regret = 0, top1RegretP90 = 0, top5Regret = 0, tau = 0, randomRegret = 0; ///< means
};

std::vector<RankingGroup> rankingGroups(std::span<const ScoredRow> rows);
Ranking rankingOf(std::span<const RankingGroup> groups);

/// Shapes of GEMM with at least 3 kernels: how often the predicted best is within 5% of the best,
/// and how often a random one is.
struct PickShare {
  std::size_t shapes = 0;
  double within5 = 0, randomWithin5 = 0;
};
PickShare pickShare(std::span<const ScoredRow> rows);

} // namespace kw
