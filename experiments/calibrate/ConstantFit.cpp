// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/calibrate/ConstantFit.h"

#include "costmodel/Features.h"
#include "costmodel/foreign/ForeignModel.h"
#include "experiments/score/Metrics.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace kw {
namespace {

constexpr std::size_t rowsPerGroup = 16;
constexpr double huber = 0.15;   ///< of log(time): beyond it an error counts linearly
constexpr double biasGroups = 5; ///< a generator's bias is shrunk as if so many more rows had none
constexpr double priorWeight = 2e-4; ///< of one standard deviation squared against the mean error

/// Constants under trial; corrects nothing.
class Trial final : public Calibration {
public:
  explicit Trial(FittedConstants constants) : constants(std::move(constants)) {}
  Target calibrated(const Target &target) const override { return constants.apply(target); }
  Correction correct(const ModelCase &) const override { return {}; }

private:
  FittedConstants constants;
};

/// Every n-th row of each group, no flags, no losing candidates.
std::vector<const ScoredRow *> sampleOf(std::span<const ScoredRow> rows, const Target &target) {
  std::map<std::string, std::vector<const ScoredRow *>> groups;
  for (const ScoredRow &row : rows) {
    if (row.counts() && !row.time.exhaustive &&
        (row.row.gfx.empty() || row.row.gfx == target.name)) {
      groups[row.modelCase->family + row.modelCase->group].push_back(&row);
    }
  }
  std::vector<const ScoredRow *> sample;
  for (const auto &[group, members] : groups) {
    const std::size_t step = (members.size() + rowsPerGroup - 1) / rowsPerGroup;
    for (std::size_t i = 0; i < members.size(); i += step) {
      sample.push_back(members[i]);
    }
  }
  return sample;
}

double huberLoss(double error) {
  const double size = std::abs(error);
  return size <= huber ? size * size / 2 : huber * (size - huber / 2);
}

double objective(std::span<const ScoredRow *const> sample, const FittedConstants &constants,
                 const Target &prior) {
  const Trial trial(constants);
  ForeignModel model({}, trial);
  std::map<std::string, std::vector<double>> logs; // of generator and type
  for (const ScoredRow *row : sample) {
    if (const auto modelCase = model.estimate(row->row)) {
      logs[modelCase->generator].push_back(std::log(*row->time.us / modelCase->analytic.timeUs));
    }
  }
  double loss = 0, count = 0;
  for (const auto &[generator, errors] : logs) {
    const double n = double(errors.size());
    const double bias = quantile(errors, 0.5) * n / (n + biasGroups) / 2;
    for (const double error : errors) {
      loss += huberLoss(error - bias);
    }
    count += n;
  }
  double penalty = 0;
  for (const PhysicalConstant &constant : physicalConstants()) {
    const double value = constants.values.at(std::string(constant.name));
    penalty += std::pow(std::log(value / (prior.*constant.field)) / constant.spread, 2);
  }
  return loss / count + priorWeight * penalty;
}

} // namespace

FittedConstants fitConstants(std::span<const ScoredRow> rows, const Target &target) {
  const std::vector<const ScoredRow *> sample = sampleOf(rows, target);
  FittedConstants best{std::string(target.name), {}};
  for (const PhysicalConstant &constant : physicalConstants()) {
    best.values.emplace(constant.name,
                        std::clamp(target.*constant.field, constant.least, constant.most));
  }
  if (sample.empty()) {
    return best;
  }
  double least = objective(sample, best, target);
  for (const double step : {0.16, 0.08, 0.04, 0.02}) {
    for (const PhysicalConstant &constant : physicalConstants()) {
      for (const double factor : {1 + step, 1 / (1 + step)}) {
        FittedConstants trial = best;
        double &value = trial.values.at(std::string(constant.name));
        value = std::clamp(value * factor, constant.least, constant.most);
        const double loss = objective(sample, trial, target);
        if (loss < least) {
          least = loss;
          best = trial;
        }
      }
    }
  }
  return best;
}

} // namespace kw
