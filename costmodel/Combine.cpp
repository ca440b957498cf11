// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/Combine.h"

#include "costmodel/Overlap.h"
#include "costmodel/terms/Terms.h"

#include <algorithm>
#include <numeric>

namespace kw {
namespace {

bool isIn(TermSet set, Term term) { return set[static_cast<std::size_t>(term)]; }

template <std::size_t N>
std::array<double, N> evaluate(const std::array<TermRow, N> &rows, const LaunchProfile &profile,
                               const Rounds &rounds, const Target &target, TermSet without) {
  std::array<double, N> us;
  for (std::size_t i = 0; i < N; ++i) {
    us[i] = isIn(without, rows[i].term) ? 0 : rows[i].us(profile, rounds, target);
  }
  return us;
}

/// Everything that acts at the same time, and the serial terms.
struct Times {
  std::array<double, pipeTerms.size()> pipes;
  std::array<double, chainTerms.size()> chain;
  std::array<double, pathTerms.size()> path;
  std::array<double, 2 + concurrentTerms.size()> concurrent; ///< core and path first
  std::array<double, serialTerms.size()> serial;

  Times(const LaunchProfile &profile, const Rounds &rounds, const Target &target,
        TermSet without = {})
      : pipes(evaluate(pipeTerms, profile, rounds, target, without)),
        chain(evaluate(chainTerms, profile, rounds, target, without)),
        path(evaluate(pathTerms, profile, rounds, target, without)),
        serial(evaluate(serialTerms, profile, rounds, target, without)) {
    concurrent[0] = coreTime(pipes, chain);
    concurrent[1] = std::ranges::max(path);
    std::ranges::copy(evaluate(concurrentTerms, profile, rounds, target, without),
                      concurrent.begin() + 2);
  }

  double total() const {
    return std::accumulate(serial.begin(), serial.end(), overlapped(concurrent));
  }
};

void addParts(const Times &times, std::array<double, termCount> &termsUs) {
  const auto add = [&](const TermRow &row, double us) {
    termsUs[static_cast<std::size_t>(row.term)] += us;
  };
  std::array<double, 2 + concurrentTerms.size()> shares;
  attribute(times.concurrent, shares);
  std::array<double, pipeTerms.size()> pipeShares;
  std::array<double, chainTerms.size()> chainShares;
  attributeCore(times.pipes, times.chain, shares[0], pipeShares, chainShares);
  for (std::size_t i = 0; i < pipeTerms.size(); ++i) {
    add(pipeTerms[i], pipeShares[i]);
  }
  for (std::size_t i = 0; i < chainTerms.size(); ++i) {
    add(chainTerms[i], chainShares[i]);
  }
  add(pathTerms[static_cast<std::size_t>(std::ranges::max_element(times.path) -
                                         times.path.begin())],
      shares[1]);
  for (std::size_t i = 0; i < concurrentTerms.size(); ++i) {
    add(concurrentTerms[i], shares[i + 2]);
  }
  for (std::size_t i = 0; i < serialTerms.size(); ++i) {
    add(serialTerms[i], times.serial[i]);
  }
}

} // namespace

double launchUs(const LaunchProfile &profile, const Target &target) {
  return Times(profile, exactRounds(profile, target), target).total();
}

double addLaunchTerms(const LaunchProfile &profile, const Target &target,
                      std::array<double, termCount> &termsUs, TermSet without) {
  const Times even(profile, evenRounds(profile, target), target, without);
  addParts(even, termsUs);
  if (isIn(without, Term::lastRound)) {
    return even.total();
  }
  const double exact = Times(profile, exactRounds(profile, target), target, without).total();
  termsUs[static_cast<std::size_t>(Term::lastRound)] += std::max(0.0, exact - even.total());
  return exact;
}

} // namespace kw
