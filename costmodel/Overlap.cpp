// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/Overlap.h"

#include "costmodel/Constants.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace kw {
namespace {

double fourth(double value) {
  const double square = value * value;
  return square * square;
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

double coreTime(std::span<const double> pipes, double chain) {
  return std::max(overlapped(pipes), chain);
}

void attributeCore(std::span<const double> pipes, double chain, double total,
                   std::span<double> shares, double &chainShare) {
  const double inPipes = attribute(pipes, shares);
  const double core = std::max(inPipes, chain);
  const double scale = core > 0 ? total / core : 0;
  for (double &share : shares) {
    share *= scale;
  }
  chainShare = (core - inPipes) * scale;
}

} // namespace kw
