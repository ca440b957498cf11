// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/ownruns/LearningCurve.h"

#include "costmodel/calibration/Refinement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

namespace kw {
namespace {

using Group = std::vector<const ScoredRow *>;

/// What was expected of a row without a look at its group.
ExpectedCase expectedOf(const ScoredRow &row) {
  const double us = row.predictedUs;
  return {*row.modelCase,
          {std::log(us / row.modelCase->analytic.timeUs), std::log(row.highUs / us)}};
}

/// The only place where a time meets the process: those of the rows that are given.
ErrorProcess learn(std::span<const ScoredRow *const> given, double factorOfFirst) {
  std::vector<ExpectedCase> cases;
  std::vector<double> times;
  for (const ScoredRow *row : given) {
    cases.push_back(expectedOf(*row));
    times.push_back(*row->time.us * (row == given.front() ? factorOfFirst : 1));
  }
  return ErrorProcess(cases, times);
}

/// Sums over the rows that are judged.
struct Tally {
  double error = 0, covered = 0;
  std::size_t rows = 0;

  void add(const ScoredRow &row, const Correction &correction) {
    const double us = row.modelCase->analytic.timeUs * std::exp(correction.log);
    error += std::abs(us / *row.time.us - 1);
    covered += std::abs(std::log(us / *row.time.us)) <= correction.halfWidth80 ? 1 : 0;
    ++rows;
  }
};

struct Tallies {
  Tally before, after, absurd;
};

Tallies judge(const Group &group, int runs, const LearningCurveOptions &options,
              std::mt19937_64 &random) {
  Tallies tallies;
  Group order = group;
  for (int draw = 0; draw < options.draws; ++draw) {
    std::ranges::shuffle(order, random);
    const std::span all(std::as_const(order));
    const auto given = all.first(std::size_t(runs)), rest = all.subspan(std::size_t(runs));
    const ErrorProcess process = learn(given, 1), misled = learn(given, options.absurd);
    for (const ScoredRow *row : rest) {
      const ExpectedCase query = expectedOf(*row);
      tallies.before.add(*row, query.expected);
      tallies.after.add(*row, process.refine(query));
      tallies.absurd.add(*row, misled.refine(query));
    }
  }
  return tallies;
}

/// Means over the rows that were judged and over the groups.
Json entryOf(int runs, std::span<const Tallies> groups, const LearningCurveOptions &options) {
  const auto byRows = [&](Tally Tallies::*which, double Tally::*value) {
    double sum = 0, rows = 0;
    for (const Tallies &group : groups) {
      sum += (group.*which).*value;
      rows += double((group.*which).rows);
    }
    return sum / rows;
  };
  const auto byGroups = [&](Tally Tallies::*which) {
    double sum = 0;
    for (const Tallies &group : groups) {
      sum += (group.*which).error / double((group.*which).rows);
    }
    return sum / double(groups.size());
  };
  std::size_t rows = 0;
  for (const Tallies &group : groups) {
    rows += group.before.rows / std::size_t(options.draws);
  }
  return {{"runs", runs},
          {"groups", groups.size()},
          {"rows", rows},
          {"mape",
           {{"before", byRows(&Tallies::before, &Tally::error)},
            {"after", byRows(&Tallies::after, &Tally::error)},
            {"after_absurd", byRows(&Tallies::absurd, &Tally::error)}}},
          {"mape_by_group",
           {{"before", byGroups(&Tallies::before)},
            {"after", byGroups(&Tallies::after)},
            {"after_absurd", byGroups(&Tallies::absurd)}}},
          {"coverage80",
           {{"before", byRows(&Tallies::before, &Tally::covered)},
            {"after", byRows(&Tallies::after, &Tally::covered)}}}};
}

} // namespace

Json learningCurve(std::span<const ScoredRow> rows, const LearningCurveOptions &options) {
  std::map<std::string, std::map<std::string, Group>> families;
  for (const ScoredRow &row : rows) {
    if (row.counts()) {
      families[row.modelCase->family][row.modelCase->group].push_back(&row);
    }
  }
  Json all = Json::object();
  for (const auto &[family, groups] : families) {
    for (const int runs : options.runs) {
      std::mt19937_64 random(options.seed);
      std::vector<Tallies> judged;
      for (const auto &[name, group] : groups) {
        if (group.size() >= std::size_t(runs) + options.leastRest) {
          judged.push_back(judge(group, runs, options, random));
        }
      }
      if (!judged.empty()) {
        all[family].push_back(entryOf(runs, judged, options));
      }
    }
  }
  return all;
}

} // namespace kw
