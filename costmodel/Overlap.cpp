// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/Overlap.h"

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
  double sum = 0, largest = 0;
  for (const double term : terms) {
    assert(term >= 0 && "a term is a time");
    sum += fourth(term);
    largest = std::max(largest, term);
  }
  // Each operation rounds monotonically, so the whole is monotonic too; the maximum repairs an ulp.
  return std::max(largest, std::sqrt(std::sqrt(sum)));
}

double attribute(std::span<const double> terms, std::span<double> shares) {
  assert(terms.size() == shares.size());
  const double total = overlapped(terms);
  const auto largest = std::max_element(terms.begin(), terms.end()) - terms.begin();
  double others = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    shares[i] = static_cast<std::ptrdiff_t>(i) == largest ? 0 : fourth(terms[i]);
    others += shares[i];
  }
  const double excess = terms.empty() ? 0 : total - terms[largest];
  for (double &share : shares) {
    share = others > 0 ? excess * (share / others) : 0;
  }
  if (!terms.empty()) {
    shares[largest] = others > 0 ? terms[largest] : total;
  }
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
