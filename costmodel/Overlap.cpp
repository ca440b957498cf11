// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/Overlap.h"

#include "costmodel/Constants.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace kw {
namespace {

double fourth(double value) {
  const double square = value * value;
  return square * square;
}

double pipeTime(std::span<const double> pipes) {
  double sum = 0, largest = 0;
  for (const double pipe : pipes) {
    sum += pipe;
    largest = std::max(largest, pipe);
  }
  return std::max(largest, (1 - constants::hiddenCost) * largest + constants::hiddenCost * sum);
}

} // namespace

double overlapped(std::span<const double> terms) {
  double fourths = 0, sum = 0, largest = 0;
  for (const double term : terms) {
    assert(term >= 0 && "a term is a time");
    fourths += fourth(term);
    sum += term;
    largest = std::max(largest, term);
  }
  // Each operation rounds monotonically, so the whole is monotonic too; the maximum repairs an ulp.
  const double norm = std::sqrt(std::sqrt(fourths));
  return std::max(largest, (1 - constants::hiddenCost) * norm + constants::hiddenCost * sum);
}

double attribute(std::span<const double> terms, std::span<double> shares) {
  assert(terms.size() == shares.size() && !terms.empty());
  const double total = overlapped(terms);
  const auto largest = static_cast<std::size_t>(std::ranges::max_element(terms) - terms.begin());
  double fourths = 0, others = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    shares[i] = i == largest ? 0 : fourth(terms[i]);
    fourths += shares[i];
    others += i == largest ? 0 : terms[i];
  }
  const double hidden = constants::hiddenCost * others;
  const double excess = std::max(0.0, total - terms[largest] - hidden);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    shares[i] = fourths > 0 ? excess * (shares[i] / fourths) + constants::hiddenCost * terms[i] : 0;
  }
  shares[largest] = terms[largest];
  return total;
}

double coreTime(std::span<const double> pipes, std::span<const double> chain) {
  return std::max(pipeTime(pipes), std::accumulate(chain.begin(), chain.end(), 0.0));
}

void attributeCore(std::span<const double> pipes, std::span<const double> chain, double total,
                   std::span<double> shares, std::span<double> chainShares) {
  assert(pipes.size() == shares.size() && chain.size() == chainShares.size() && !pipes.empty());
  const double core = coreTime(pipes, chain);
  const double scale = core > 0 ? total / core : 0;
  const auto largest = std::ranges::max_element(pipes) - pipes.begin();
  double reached = pipeTime(pipes), links = 0, hidden = 0;
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    shares[i] = constants::hiddenCost * pipes[i] * scale;
    hidden += shares[i];
  }
  shares[largest] += reached * scale - hidden;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    links += chain[i];
    const double next = std::max(reached, links);
    chainShares[i] = (next - reached) * scale;
    reached = next;
  }
}

} // namespace kw
