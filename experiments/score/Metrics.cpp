// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/Metrics.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace kw {
namespace {

struct GroupSum {
  double error = 0, rows = 0;
};

std::vector<GroupSum> groupSums(std::span<const ErrorSample> samples) {
  std::map<std::string_view, GroupSum> groups;
  for (const ErrorSample &sample : samples) {
    GroupSum &group = groups[sample.group];
    group.error += std::abs(sample.error);
    group.rows += 1;
  }
  std::vector<GroupSum> sums;
  for (const auto &[name, sum] : groups) {
    sums.push_back(sum);
  }
  return sums;
}

} // namespace

double quantile(std::vector<double> values, double fraction) {
  if (values.empty()) {
    return 0;
  }
  std::ranges::sort(values);
  const double at = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], at - static_cast<double>(below));
}

std::vector<ErrorSample> samplesOf(std::span<const ScoredRow> rows) {
  std::vector<ErrorSample> samples;
  for (const ScoredRow &row : rows) {
    if (row.counts()) {
      samples.push_back({row.error(), row.lowUs <= *row.time.us && *row.time.us <= row.highUs,
                         row.modelCase->group});
    }
  }
  return samples;
}

Errors errorsOf(std::span<const ErrorSample> samples) {
  Errors errors;
  errors.rows = samples.size();
  if (samples.empty()) {
    return errors;
  }
  std::vector<double> absolute, logs;
  for (const ErrorSample &sample : samples) {
    const double size = std::abs(sample.error);
    absolute.push_back(size);
    logs.push_back(std::log1p(sample.error));
    const double share = 1.0 / static_cast<double>(samples.size());
    errors.mape += share * size;
    errors.within10 += size <= 0.1 ? share : 0;
    errors.within20 += size <= 0.2 ? share : 0;
    errors.coverage80 += sample.covered ? share : 0;
  }
  errors.medianApe = quantile(absolute, 0.5);
  errors.p90Ape = quantile(absolute, 0.9);
  errors.bias = quantile(logs, 0.5);
  return errors;
}

double mapeByGroup(std::span<const ErrorSample> samples) {
  const std::vector<GroupSum> sums = groupSums(samples);
  double total = 0;
  for (const GroupSum &sum : sums) {
    total += sum.error / sum.rows / static_cast<double>(sums.size());
  }
  return total;
}

BootstrapIntervals bootstrap(std::span<const ErrorSample> samples, std::uint64_t seed, int draws) {
  constexpr double tail = 0.05;
  const std::vector<GroupSum> sums = groupSums(samples);
  if (sums.empty()) {
    return {};
  }
  std::mt19937_64 random(seed);
  std::vector<double> byRow, byGroup;
  for (int draw = 0; draw < draws; ++draw) {
    double error = 0, rows = 0, means = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const GroupSum &sum = sums[random() % sums.size()];
      error += sum.error;
      rows += sum.rows;
      means += sum.error / sum.rows;
    }
    byRow.push_back(error / rows);
    byGroup.push_back(means / static_cast<double>(sums.size()));
  }
  return {{quantile(byRow, tail), quantile(byRow, 1 - tail)},
          {quantile(byGroup, tail), quantile(byGroup, 1 - tail)}};
}

std::map<std::string, Errors> errorsBy(std::span<const ScoredRow> rows,
                                       const std::function<std::string(const ScoredRow &)> &key) {
  std::map<std::string, std::vector<ErrorSample>> samples;
  for (const ScoredRow &row : rows) {
    if (row.counts()) {
      for (ErrorSample &sample : samplesOf({&row, 1})) {
        samples[key(row)].push_back(std::move(sample));
      }
    }
  }
  std::map<std::string, Errors> errors;
  for (const auto &[name, group] : samples) {
    errors[name] = errorsOf(group);
  }
  return errors;
}

} // namespace kw
