// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/calibration/Refinement.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <string>

namespace kw {
namespace {

// Variances of the calibration's errors by what two cases share, and the distance in log2 of rows
// over which they stay alike. [prior: set by hand; together an error of 8%. To be fitted to products
// of out-of-fold errors of pairs of rows]
constexpr double machineVariance = 0.0004;
constexpr double groupVariance = 0.0012;
constexpr double groupNearVariance = 0.0016;
constexpr double generatorVariance = 0.0004;
constexpr double variantVariance = 0.0008;
constexpr double groupGeneratorVariance = 0.0012;
constexpr double kernelVariance = 0.0010;
constexpr double rowsLength = 2.0;
constexpr double noiseVariance = 0.0009; ///< repeats differ by 3% [measured: costmodel.md 1.2]

/// Degrees of freedom of the noise. [prior: with 3, a run that is off by 20 deviations counts a
/// hundredth of one that fits]
constexpr double freedom = 3;
constexpr int reweightings = 12;

/// What the covariance reads of a case.
struct Point {
  std::string family, group, generator, variant, kernel;
  double logRows = 0;
};

Point pointOf(const ModelCase &c) {
  static const std::size_t rows =
      std::ranges::find(featureNames(), std::string_view("log_rows")) - featureNames().begin();
  const double logRows = rows < c.features.size() ? c.features[rows] : 0;
  return {c.family, c.group, c.generator, c.variant, c.kernel, std::isnan(logRows) ? 0 : logRows};
}

double covariance(const Point &a, const Point &b) {
  if (a.family != b.family) {
    return 0;
  }
  const bool sameGroup = !a.group.empty() && a.group == b.group;
  const bool sameGenerator = a.generator == b.generator;
  const double apart = (a.logRows - b.logRows) / rowsLength;
  const double near = std::exp(-apart * apart / 2);
  double sum = machineVariance;
  sum += sameGroup ? groupVariance + groupNearVariance * near : 0;
  sum += sameGenerator ? generatorVariance : 0;
  sum += sameGenerator && a.variant == b.variant ? variantVariance : 0;
  sum += sameGroup && sameGenerator ? groupGeneratorVariance * near : 0;
  sum += sameGenerator && !a.kernel.empty() && a.kernel == b.kernel ? kernelVariance : 0;
  return sum;
}

} // namespace

struct Refinement::Process {
  std::vector<Point> points;
  Eigen::LLT<Eigen::MatrixXd> factor; ///< of covariance + noise
  Eigen::VectorXd weights;            ///< (covariance + noise)^-1 errors
};

Refinement::Refinement(const Calibration &base, std::span<const OwnRun> runs) : base(base) {
  runs = runs.last(std::min(runs.size(), mostRuns));
  if (runs.empty()) {
    return;
  }
  process = std::make_unique<Process>();
  const auto count = static_cast<Eigen::Index>(runs.size());
  Eigen::VectorXd errors(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const OwnRun &run = runs[i];
    process->points.push_back(pointOf(run.modelCase));
    errors[i] =
        std::log(run.measuredUs / run.modelCase.analytic.timeUs) - base.correct(run.modelCase).log;
  }
  Eigen::MatrixXd prior(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      prior(i, j) = prior(j, i) = covariance(process->points[i], process->points[j]);
    }
  }
  // Student-t noise as a scale mixture: each run's noise grows with the square of what the others
  // don't explain of it.
  Eigen::VectorXd noise = Eigen::VectorXd::Constant(count, noiseVariance);
  for (int step = 0; step < reweightings; ++step) {
    Eigen::MatrixXd total = prior;
    total.diagonal() += noise;
    process->factor.compute(total);
    process->weights = process->factor.solve(errors);
    const Eigen::VectorXd inverse =
        process->factor.solve(Eigen::MatrixXd::Identity(count, count)).diagonal();
    for (Eigen::Index i = 0; i < count; ++i) {
      // The error of run i as the others predict it, and how well they do.
      const double leftOut = process->weights[i] / inverse[i];
      const double others = std::max(1 / inverse[i] - noise[i], 0.0);
      const double surprise = leftOut * leftOut / (others + noiseVariance);
      noise[i] = noiseVariance * std::max(1.0, (freedom + surprise) / (freedom + 1));
    }
  }
  Eigen::MatrixXd total = prior;
  total.diagonal() += noise;
  process->factor.compute(total);
  process->weights = process->factor.solve(errors);
}

Refinement::~Refinement() = default;

Correction Refinement::correct(const ModelCase &modelCase) const {
  Correction correction = base.correct(modelCase);
  if (!process) {
    return correction;
  }
  const Point point = pointOf(modelCase);
  Eigen::VectorXd shared(process->weights.size());
  for (Eigen::Index i = 0; i < shared.size(); ++i) {
    shared[i] = covariance(point, process->points[i]);
  }
  const double prior = covariance(point, point);
  const double explained =
      std::clamp(shared.dot(process->factor.solve(shared)), 0.0, 0.999 * prior);
  correction.log += shared.dot(process->weights);
  // The base's interval shrinks by the part of its variance that the runs explain.
  const double own = correction.halfWidth80 / 1.2816;
  const double left = std::max(own * own - explained, own * own / 16);
  correction.halfWidth80 = 1.2816 * std::sqrt(left);
  return correction;
}

} // namespace kw
